// Gains from recycling in the tuning of the metric: NUTS with two covariances from one chain.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "experiments/jackknife.hpp"
#include "experiments/truth.hpp"

namespace rehmc::experiments {

/// Squared errors of a chain that is run with a tuned metric, in units of a single draw's variance.
using SquaredErrors = std::array<std::vector<float>, statistics>;

/// The metric is estimated from the chain's own draws, or from recycled states.
enum class TuningArm { draws, recycled };
inline constexpr std::size_t tuning_arms = 2;

/// Sums over repetitions for one length of the adaptation.
struct TuningErrors {
  std::array<SquaredErrors, tuning_arms> squares;
  std::array<double, tuning_arms> iterations{};  ///< that the gradients sufficed for

  template <class Archive>
  void archive(Archive& archive) {
    archive(squares, iterations);
  }
};

struct TuningGroup {
  double repetitions = 0;
  std::vector<TuningErrors> lengths;  ///< one for each length of the adaptation

  void add(const TuningGroup& other);

  template <class Archive>
  void archive(Archive& archive) {
    archive(repetitions, lengths);
  }
};

struct TuningStudy {
  CaseName name;
  std::vector<std::size_t> lengths;  ///< N_adapt
  std::vector<TuningGroup> groups;

  /// Mean over parameters of log2 of the ratio of effective sample sizes, recycled over plain
  /// draws; one per statistic.
  std::vector<Measured> mean_log2(std::size_t length) const;
  /// Per parameter.
  std::vector<double> log2_by_parameter(std::size_t length, Statistic statistic) const;
};

/// The paper's experiment, with Stan's settings of that time. A chain from stationarity with the
/// unit metric: 50 iterations tune the step size, N_adapt more at that step size give both
/// covariances. With each as M^{-1}, after Stan's shrinkage, 75 iterations tune the step size again
/// and NUTS continues to 10^4 gradients. Longer adaptations of a repetition continue the shorter
/// ones.
///
/// Departure: covariances see 16 states of every trajectory, evenly spread. The paper does not say
/// how many it used; it found 15 besides the final state to be as good as all.
TuningStudy run_tuning(const Workshop& workshop, const TestCase& test_case,
                       const Preparation& preparation, const Truth& truth);

/// tuning.csv, and tuning-CASE-N.csv for every case and length.
void write_tuning(std::span<const TuningStudy> studies, const std::filesystem::path& folder);

/// Both metrics after some iterations, and the position of the chain then.
struct TunedMetrics {
  std::array<std::shared_ptr<const Metric>, tuning_arms> metrics;
  std::vector<double> position;
};
/// `look(length index, metrics)` is called at each of the lengths, which rise.
void adapt_metrics(const Workshop& workshop, const Density& density, std::span<const double> start,
                   const Address& address, std::span<const std::size_t> lengths,
                   const std::function<void(std::size_t, const TunedMetrics&)>& look);

}  // namespace rehmc::experiments
