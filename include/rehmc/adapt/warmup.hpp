// Warmup: tunes the step size and the metric, then ends and leaves a kernel whose tuning is fixed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

#include "rehmc/adapt/metric_estimate.hpp"
#include "rehmc/adapt/step_size.hpp"
#include "rehmc/adapt/windows.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// Who learns from whom in warmup, and when.
enum class WarmupSchedule {
  stan,    ///< every chain alone, in windows of fixed lengths
  pooled,  ///< groups of chains together, until metric and step size are stable
};

std::string_view describe(WarmupSchedule schedule) noexcept;
/// By name: stan, pooled. ConfigError lists the names.
WarmupSchedule parse_warmup_schedule(std::string_view name);

struct WarmupSettings {
  WarmupSchedule schedule = WarmupSchedule::pooled;
  int iterations = 1000;  ///< pooled: at most
  /// Where the search for a step size starts; without iterations, the step size itself.
  double step_size = 1;
  bool search_step_size = true;  ///< false: warmup starts with the step size itself
  /// What is estimated. None: pooled, the kind that suits best; Stan's schedule, a diagonal metric.
  /// Unit: no metric is estimated.
  std::optional<MetricKind> metric{};
  MetricSource metric_from = MetricSource::recycled;  ///< Stan's schedule
  /// The initial metric (kept if `metric` is unit or there are no iterations).
  std::shared_ptr<const Metric> initial_metric{};
  StepSizeSettings adapt_step_size{};  ///< pooled: the acceptance alone
  WindowSettings windows{};            ///< Stan's schedule

  static constexpr auto settings() {
    using S = WarmupSettings;
    return std::tuple{
        Setting{"warmup", &S::iterations, between(0, 1e9),
                "warmup iterations, which tune the sampler and are not kept; pooled warmup may "
                "end earlier"},
        Setting{"step_size", &S::step_size, positive_finite(),
                "initial step size; without warmup, the step size itself"}};
  }

  void check() const;
};

/// One chain's warmup. Whatever recycling keeps for output, the metric sees all states.
class Warmup {
 public:
  /// The kernel must have a position. The address gives seed and chain; iterations count from 0.
  Warmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings, const Address& address);

  /// Continues a stored warmup.
  Warmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings, const Address& address,
         ArchiveReader& stored);
  void archive(ArchiveWriter& archive) const;

  bool done() const { return iteration_ == settings_.iterations; }
  int iteration() const { return iteration_; }
  /// Takes one transition and adapts to it.
  const Transition& step();
  const Tuning& tuning() const { return tuning_; }
  const Kernel& kernel() const { return *kernel_; }

  /// Ends warmup: sets the averaged step size; the tuning no longer changes.
  FrozenKernel finish() &&;

 private:
  void search_step_size();
  void end_window();
  Address address() const;
  MetricKind kind() const { return settings_.metric.value_or(MetricKind::diagonal); }

  std::unique_ptr<Kernel> kernel_;
  WarmupSettings settings_;
  Address address_;
  WindowSchedule schedule_;
  DualAveraging averaging_;
  Tuning tuning_;
  std::optional<MetricEstimate> estimate_;
  int iteration_ = 0;
  bool window_ended_ = false;
};

}  // namespace rehmc
