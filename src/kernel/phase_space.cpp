// Leapfrog steps in pooled memory, and the bookkeeping that all kernels share.
#include "phase_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rehmc/core/error.hpp"

namespace rehmc {

PhaseSpace::PhaseSpace(Density density) : states(density.dimension()), guard(std::move(density)) {}

void PhaseSpace::use(const Tuning& tuning) {
  require_setting("step_size", tuning.step_size, positive_finite());
  if (tuning.metric == nullptr) throw ConfigError("metric: none given; use make_unit_metric(d)");
  if (tuning.metric->dimension() != dimension()) {
    throw ConfigError(fmt::format("metric: has {} coordinates, the model has {}",
                                  tuning.metric->dimension(), dimension()));
  }
  tuning_ = tuning;
  if (!momenta || momentum_vectors_ != tuning.metric->momentum_vectors()) {
    momentum_vectors_ = tuning.metric->momentum_vectors();
    momenta.emplace(momentum_vectors_ * vector_stride(dimension()));
  }
}

PhasePoint PhaseSpace::begin(StateHandle state, Stream& stream) {
  const MomentumHandle p = momenta->take();
  const double kinetic = metric().draw_momentum(stream, states.gradient(state), momentum(p));
  states.energy(state) = kinetic - states.log_density(state);
  return {state, p, kinetic};
}

PhasePoint PhaseSpace::step(const PhasePoint& from, double signed_step) {
  const StateHandle to = states.take();
  const MomentumHandle p = momenta->take();
  double* position = states.position(to);
  double* gradient = states.gradient(to);
  metric().kick_and_drift(signed_step, states.position(from.state), states.gradient(from.state),
                          momentum(from.momentum), position, momentum(p));
  const double log_density = guard.evaluate({position, dimension()}, {gradient, dimension()});
  const double kinetic = metric().kick(signed_step, gradient, momentum(p));
  states.log_density(to) = log_density;
  states.energy(to) = kinetic - log_density;
  // A gradient that is not finite makes the kinetic energy so: no pass is spent to look for it.
  if (!std::isfinite(states.energy(to))) {
    guard.check_gradient({gradient, dimension()});
    states.energy(to) = std::numeric_limits<double>::infinity();
  }
  return {to, p, kinetic};
}

void PhaseSpace::keep_divergence(const PhasePoint& from, const PhasePoint& to) {
  // The momentum at the end of the failed step is of no use to anyone: its buffer takes the
  // start's.
  std::copy_n(momentum(from.momentum), dimension(), momentum(to.momentum));
  states.retain(from.state);
  divergent_ = DivergentStep{from.state, to, guard.last_fault()};
}

void PhaseSpace::drop_divergence() {
  if (!divergent_) return;
  states.release(divergent_->start);
  states.release(divergent_->end.state);
  momenta->release(divergent_->end.momentum);
  divergent_.reset();
}

Divergence PhaseSpace::divergence() const {
  return {states.view(divergent_->start).position,
          {momenta->data(divergent_->end.momentum), dimension()},
          states.view(divergent_->end.state).position,
          divergent_->fault};
}

namespace {

void check_for_kernel(const KernelSettings& settings) {
  settings.check();
  const bool path_only = settings.recycling.kind == RecyclingKind::accept_each ||
                         settings.recycling.kind == RecyclingKind::stride;
  if (path_only && settings.kind != KernelKind::hmc) {
    throw ConfigError(fmt::format(
        "recycle: {} needs a path whose steps are accepted one by one, which {} has not; use "
        "spread:K, simple:K or all, or kernel hmc",
        describe(settings.recycling), describe(settings.kind)));
  }
}

}  // namespace

HamiltonianKernel::HamiltonianKernel(Density density, const KernelSettings& settings)
    : settings_((check_for_kernel(settings), settings)),
      space_(std::move(density)),
      current_(space_.states.take()),
      sums_(space_.states) {
  const std::size_t count = settings_.recycling.count;
  switch (settings_.recycling.kind) {
    case RecyclingKind::all:
      recycler_.emplace<KeepEvery<StatePool>>(space_.states);
      break;
    case RecyclingKind::spread:
      recycler_.emplace<KeepSpread<StatePool>>(space_.states, count);
      break;
    case RecyclingKind::simple:
      recycler_.emplace<KeepSimple<StatePool>>(space_.states, count,
                                               settings_.kind == KernelKind::nuts_slice);
      break;
    case RecyclingKind::none:
    case RecyclingKind::accept_each:
    case RecyclingKind::stride:
      break;
  }
}

void HamiltonianKernel::set_position(std::span<const double> position) {
  release_last_transition();
  const std::size_t d = space_.dimension();
  const StateHandle fresh = space_.states.take();
  try {
    space_.states.log_density(fresh) =
        space_.guard.evaluate_strictly(position, {space_.states.gradient(fresh), d});
  } catch (...) {
    space_.states.release(fresh);
    throw;
  }
  std::copy(position.begin(), position.end(), space_.states.position(fresh));
  space_.states.release(current_);
  current_ = fresh;
}

double HamiltonianKernel::one_step_energy_error(const Tuning& tuning, Stream& stream) {
  release_last_transition();
  space_.use(tuning);
  const PhasePoint from = space_.begin(current_, stream);
  const double start_energy = space_.states.energy(current_);
  const PhasePoint to = space_.step(from, tuning.step_size);
  const double error = space_.states.energy(to.state) - start_energy;
  space_.states.release(to.state);
  space_.momenta->release(to.momentum);
  space_.momenta->release(from.momentum);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

PhasePoint HamiltonianKernel::begin_transition(const Tuning& tuning, const Address& address) {
  release_last_transition();
  space_.use(tuning);
  Stream momentum_stream(address, Purpose::momentum);
  const PhasePoint start = space_.begin(current_, momentum_stream);
  std::visit(
      [&](auto& recycler) {
        if constexpr (!std::same_as<std::decay_t<decltype(recycler)>, KeepNone>) {
          recycler.begin(Stream(address, Purpose::recycling));
        }
      },
      recycler_);
  if (sums_.active()) sums_.begin();
  record_ = Transition{};
  record_.step_size = tuning.step_size;
  return start;
}

const Transition& HamiltonianKernel::finish_transition(StateHandle next, double start_energy) {
  space_.states.release(current_);
  current_ = next;
  record_.state = space_.states.view(next);
  record_.energy = space_.states.energy(next);
  record_.energy_error = record_.energy - start_energy;

  kept_view_.clear();
  std::visit(
      [&](auto& recycler) {
        if constexpr (!std::same_as<std::decay_t<decltype(recycler)>, KeepNone>) {
          for (const auto& entry : recycler.finish()) {
            kept_view_.push_back({space_.states.view(entry.state), entry.weight});
          }
        }
      },
      recycler_);
  const double share = 1.0 / static_cast<double>(accepted_.size());
  for (const StateHandle state : accepted_)
    kept_view_.push_back({space_.states.view(state), share});
  if (kept_view_.empty()) kept_view_.push_back({record_.state, 1.0});
  record_.recycled = kept_view_;
  if (sums_.active()) record_.feature_means = sums_.finish();
  if (record_.ending == Ending::diverged) record_.divergence = space_.divergence();
  return record_;
}

void HamiltonianKernel::release_last_transition() {
  std::visit(
      [](auto& recycler) {
        if constexpr (!std::same_as<std::decay_t<decltype(recycler)>, KeepNone>) recycler.clear();
      },
      recycler_);
  for (const StateHandle state : accepted_) space_.states.release(state);
  accepted_.clear();
  space_.drop_divergence();
}

}  // namespace rehmc
