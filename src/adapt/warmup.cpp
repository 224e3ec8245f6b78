// The warmup loop: transition, adapt; at the end of a window, use the new metric.
#include "rehmc/adapt/warmup.hpp"

#include <fmt/format.h>

#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc {

std::string_view describe(WarmupSchedule schedule) noexcept {
  return schedule == WarmupSchedule::pooled ? "pooled" : "stan";
}

WarmupSchedule parse_warmup_schedule(std::string_view name) {
  for (const WarmupSchedule schedule : {WarmupSchedule::pooled, WarmupSchedule::stan}) {
    if (name == describe(schedule)) return schedule;
  }
  throw ConfigError(fmt::format("warmup-schedule: found '{}', expected one of pooled, stan", name));
}

namespace {

/// Settings that only Stan's schedule reads must have their defaults.
void check_pooled(const WarmupSettings& settings) {
  StepSizeSettings step_size;
  step_size.target_acceptance = settings.adapt_step_size.target_acceptance;
  std::string_view unused;
  if (settings.adapt_step_size != step_size) unused = "regularisation, relaxation and offset";
  if (settings.windows != WindowSettings{}) unused = "first_phase, first_window and last_phase";
  if (settings.metric_from != MetricSource::recycled) unused = "metric-from draws";
  if (unused.empty()) return;
  throw ConfigError(fmt::format(
      "{}: pooled warmup does not use them; leave them out, or use warmup-schedule = stan",
      unused));
}

}  // namespace

void WarmupSettings::check() const {
  check_settings(*this);
  check_settings(adapt_step_size);
  check_settings(windows);
  if (schedule == WarmupSchedule::pooled) return check_pooled(*this);
  if (metric == MetricKind::low_rank) {
    throw ConfigError(
        "metric: warmup-schedule = stan estimates a diagonal or a dense metric; give a low-rank "
        "one as initial_metric, with metric = unit to keep it, or use warmup-schedule = pooled");
  }
}

Warmup::Warmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
               const Address& address)
    : kernel_(std::move(kernel)),
      settings_((settings.check(), settings)),
      address_(address),
      schedule_(settings.iterations, settings.windows),
      averaging_(settings.adapt_step_size),
      tuning_{settings.step_size, settings.initial_metric} {
  if (tuning_.metric == nullptr) tuning_.metric = make_unit_metric(kernel_->guard().dimension());
  if (settings_.iterations > 0 && settings_.search_step_size) search_step_size();
  if (!settings_.search_step_size) averaging_.restart(tuning_.step_size);
}

Warmup::Warmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
               const Address& address, ArchiveReader& stored)
    : kernel_(std::move(kernel)),
      settings_((settings.check(), settings)),
      address_(address),
      schedule_(settings.iterations, settings.windows),
      averaging_(settings.adapt_step_size) {
  stored(*kernel_, iteration_, window_ended_, schedule_, averaging_, tuning_);
  const std::size_t dimension = kernel_->guard().dimension();
  if (iteration_ < 0 || iteration_ > settings_.iterations ||
      tuning_.metric->dimension() != dimension) {
    throw DataError("the stored warmup does not fit its settings and its model");
  }
  if (!stored.get<bool>()) return;
  const auto centre = stored.get<std::vector<double>>();
  if (centre.size() != dimension) {
    throw DataError("the stored warmup is of another dimension than the model");
  }
  estimate_.emplace(kind(), settings_.metric_from, centre);
  stored(*estimate_);
  kernel_->use_features(estimate_->features());
}

void Warmup::archive(ArchiveWriter& archive) const {
  archive(*kernel_, iteration_, window_ended_, schedule_, averaging_, tuning_,
          estimate_.has_value());
  if (!estimate_) return;
  const auto centre = estimate_->centre();
  archive(std::vector<double>(centre.begin(), centre.end()), *estimate_);
}

Address Warmup::address() const {
  return {address_.seed, address_.chain, static_cast<std::uint64_t>(iteration_)};
}

void Warmup::search_step_size() {
  Stream stream(address(), Purpose::step_size);
  tuning_.step_size = find_step_size(*kernel_, tuning_, stream);
  averaging_.restart(tuning_.step_size);
}

const Transition& Warmup::step() {
  if (done()) throw ConfigError("warmup: all iterations are done; call finish()");
  if (window_ended_) end_window();
  const bool estimates_metric = settings_.metric != MetricKind::unit;
  if (estimates_metric && schedule_.starts_window(iteration_)) {
    estimate_.emplace(kind(), settings_.metric_from, kernel_->state().position);
    kernel_->use_features(estimate_->features());
  }
  const Transition& transition = kernel_->transition(tuning_, address());
  tuning_.step_size = averaging_.learn(transition.acceptance);
  if (estimate_) estimate_->add(transition);
  // The new metric waits for the next step: the search for its step size would invalidate the
  // views.
  window_ended_ = schedule_.ends_window(iteration_);
  ++iteration_;
  return transition;
}

void Warmup::end_window() {
  window_ended_ = false;
  schedule_.advance();
  if (!estimate_) return;
  kernel_->use_features(nullptr);
  const auto metric = estimate_->metric();
  estimate_.reset();
  // Without usable moments (for example, if all draws of the window are equal) the old metric
  // stays.
  if (metric == nullptr) return;
  tuning_.metric = metric;
  search_step_size();
}

FrozenKernel Warmup::finish() && {
  if (!done()) throw ConfigError("warmup: not all iterations are done");
  if (window_ended_) end_window();
  if (settings_.iterations > 0) tuning_.step_size = averaging_.averaged();
  kernel_->use_features(nullptr);
  return {std::move(kernel_), std::move(tuning_)};
}

}  // namespace rehmc
