// Gains from the gradients of recycled states as control variates, measured on ordinary runs.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "experiments/jackknife.hpp"
#include "experiments/truth.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc::experiments {

/// The estimates of a run that are compared.
enum class Estimator { plain, recycled, sharpened };
inline constexpr std::size_t estimators = 3;

/// What is estimated, in this order.
inline constexpr std::array<std::string_view, 3> sharpened_statistics{"mean", "sd", "q97.5"};

/// By statistic of `sharpened_statistics`, then by parameter: in posterior sds.
using RunErrors = std::array<std::vector<float>, sharpened_statistics.size()>;

/// One run of four chains.
struct SharpeningRun {
  std::array<RunErrors, estimators> errors;
  /// Share of parameters that were not sharpened: the recycled estimate is used.
  double refused = 0;

  void add(const SharpeningRun& other) { *this = other; }  ///< every run is a group of its own

  template <class Archive>
  void archive(Archive& archive) {
    archive(errors, refused);
  }
};

struct SharpeningStudy {
  CaseName name;
  RunErrors truth_error;  ///< standard errors of the ground truth, in posterior sds
  std::vector<SharpeningRun> runs;

  /// log2 of the mean squared error of the plain estimate over that of another, by parameter.
  std::vector<double> log2_by_parameter(std::size_t statistic, Estimator estimator) const;
  /// Its mean over parameters; the error is that of the jackknife over runs.
  Measured mean_log2(std::size_t statistic, Estimator estimator) const;
  double refused() const;

 private:
  std::vector<double> log2_without(std::size_t left_out, std::size_t statistic,
                                   Estimator estimator) const;
  /// Mean squared error: the variance over runs, plus the squared bias where it exceeds three
  /// standard errors, those of the ground truth included. So the error of a ground truth that is
  /// less precise than an estimate is not counted as the estimate's.
  double mean_square(std::size_t left_out, std::size_t statistic, std::size_t parameter,
                     Estimator estimator) const;
};

/// Runs of 4 chains with 1000 draws each from stationarity: multinomial NUTS with unit metric at
/// the tuned step size, spread:8 (spread:4 for the two large cases), summarised and sharpened.
///
/// The Cox process is sampled in coordinates in which its metric is the unit metric, but its
/// parameters are functions of many of these, which cannot be sharpened if there are thousands. So
/// its states are converted to its own coordinates before they are sharpened, with the gradients
/// there, which cost one evaluation for every kept state.
SharpeningStudy run_sharpening(const Workshop& workshop, const TestCase& test_case,
                               const Preparation& preparation, const Truth& truth);

/// Converts a run to what it would be if it had been sampled in the coordinates of this density,
/// which are its parameters.
void read_as_coordinates(const Workshop& workshop, Density density, SampleResult& result);

/// sharpening.csv, and sharpening-CASE.csv for every case.
void write_sharpening(std::span<const SharpeningStudy> studies,
                      const std::filesystem::path& folder);

}  // namespace rehmc::experiments
