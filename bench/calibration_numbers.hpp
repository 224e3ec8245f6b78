// How honest error bars are: what many runs of one target tell about one kind of estimate.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/targets/marginal.hpp"
#include "run_outcome.hpp"

namespace rehmc::bench {

/// A number with its Monte Carlo error, and whether it lies within its bounds once these are
/// widened by that error.
struct Measured {
  double value = 0;
  double error = 0;
  bool holds = true;
};

/// Which estimate is judged.
enum class Kind {
  plain,
  recycled,
  sharpened,  ///< of the runs that were sharpened
  shown       ///< of all runs: recycled where sharpening was refused
};
inline constexpr std::array kinds{Kind::plain, Kind::recycled, Kind::sharpened, Kind::shown};
const char* describe(Kind kind);

/// The summaries that are judged, as numbered in Outcome: mean, sd, 97.5% quantile.
inline constexpr std::array<std::size_t, 3> judged{0, 1, summaries - 1};

/// Errors are judged in units of the MCSE; those of an sd on the log scale, where they and their
/// MCSEs are nearly independent.
struct Calibration {
  std::size_t parameters = 0;  ///< with enough runs to be judged
  /// Parameters whose estimates are right to rounding, as where features span the summary: then an
  /// MCSE means nothing, and they are left out.
  std::size_t exact = 0;
  double share = 0;      ///< of all runs and parameters that have such an estimate
  Measured mean_square;  ///< of error / MCSE, averaged over parameters
  double least_mean_square = 0;
  double most_mean_square = 0;
  std::array<Measured, 4> quarters;  ///< the same, in quarters of the runs sorted by MCSE
  double median_ratio = 0;           ///< 90% over 10% quantile of the MCSEs, over parameters
  double worst_ratio = 0;
  bool ratios_hold = true;
  Measured coverage;      ///< of the 95% interval, normal
  Measured t_coverage;    ///< with the degrees of freedom that the estimate states
  double gain = 1;        ///< mean square error of plain over this, geometric mean over parameters
  double least_gain = 1;  ///< of a single parameter
  double worst_bias = 0;  ///< largest |mean error| over parameters, in its standard errors

  /// Whether all bars hold.
  bool holds() const;
};

/// By how many standard errors bounds are widened, for this many runs.
using Margin = std::function<double(std::size_t runs)>;

Calibration calibrate(const std::vector<RunOutcome>& runs, const std::vector<ExactValues>& truth,
                      Kind kind, std::size_t summary, const Margin& margin);

nlohmann::ordered_json as_json(const Calibration& calibration);
/// One line; ends with the names of the bars that do not hold.
std::string as_text(const Calibration& calibration);

/// The exact value of a summary.
double true_value(const ExactValues& truth, std::size_t summary);
/// Its estimate.
const Value& value_of(const Outcome& outcome, Kind kind, std::size_t summary);

}  // namespace rehmc::bench
