// The story of one chain's warmup: where it started, what it tried, what it cost, why it ended.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rehmc/dynamics/metric.hpp"

namespace rehmc {

/// Where a chain began, and whether the search for a better place helped.
enum class StartOutcome {
  random,              ///< a random point, as asked
  given,               ///< a point of the user
  pathfinder,          ///< where Pathfinder led
  pathfinder_no_help,  ///< a random point, because Pathfinder found nothing better
};
/// For readers of stored values.
constexpr StartOutcome greatest(StartOutcome /*of*/) { return StartOutcome::pathfinder_no_help; }

std::string_view describe(StartOutcome outcome) noexcept;

/// An estimator of a metric, and how badly its metric did on states of other chains.
struct MetricTrial {
  std::string estimator;
  double loss = 0;

  template <class Archive>
  void archive(Archive& archive) {
    archive(estimator, loss);
  }
};

/// One stage of a pooled warmup.
struct StageStory {
  std::uint64_t iterations = 0;    ///< of the chain at the end of the stage, from the first on
  std::uint64_t gradients = 0;     ///< of this chain in the stage
  double step_size = 0;            ///< that the group agreed on
  double loss_before = 0;          ///< mapping loss of the metric that the stage was run with
  double loss = 0;                 ///< of the metric after it
  std::string estimator;           ///< of that metric; empty: the metric before was kept
  std::vector<MetricTrial> tried;  ///< all estimators that could be used

  template <class Archive>
  void archive(Archive& archive) {
    archive(iterations, gradients, step_size, loss_before, loss, estimator, tried);
  }
};

/// A part of the facts of a chain. Stan's schedule has no stages, and leaves `condition_left`
/// unknown.
struct WarmupStory {
  StartOutcome start = StartOutcome::random;
  std::vector<StageStory> stages;
  /// Condition numbers of the estimated covariance, to a few percent: as it is, and in units of the
  /// metric that the last stage was run with. NaN: unknown.
  double condition = std::numeric_limits<double>::quiet_NaN();
  double condition_left = std::numeric_limits<double>::quiet_NaN();
  std::string ended;  ///< why; empty while warmup goes on
  /// Of HMC, if it was searched for; 0: it was not.
  double path_length = 0;
  std::uint64_t gradients_path = 0;  ///< of that search

  template <class Archive>
  void archive(Archive& archive) {
    archive(start, stages, condition, condition_left, ended, path_length, gradients_path);
  }
};

/// The condition number of one metric's M^{-1} in units of the other's, by power iteration: no
/// matrix is formed. It is exact for two diagonal metrics, else right to a few percent.
double condition_number(const Metric& covariance, const Metric& unit);

}  // namespace rehmc
