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

Front PhaseSpace::step(Front& from, double signed_step) {
  const PhaseView start{states.position(from.point.state), states.gradient(from.point.state),
                        momentum(from.point.momentum)};
  if (!from.next) {
    from.next = states.take();
    metric().drift(signed_step, start, states.position(*from.next));
  }
  const StateHandle to = *from.next;
  from.next.reset();
  const std::size_t d = dimension();
  const double* position = states.position(to);
  double* gradient = states.gradient(to);
  const double log_density = guard.evaluate({position, d}, {gradient, d});
  states.log_density(to) = log_density;

  const MomentumHandle p = momenta->take();
  const StateHandle next = states.take();
  const double kinetic = metric().kick_and_drift(
      signed_step, start, {position, gradient, momentum(p)}, states.position(next));
  double energy = kinetic - log_density;
  // A gradient that is not finite makes the kinetic energy so: no pass is spent to look for it.
  if (!std::isfinite(energy)) {
    guard.check_gradient({gradient, d});
    energy = std::numeric_limits<double>::infinity();
  }
  states.energy(to) = energy;
  return {{to, p, kinetic}, next};
}

void PhaseSpace::release(Front& front) {
  states.release(front.point.state);
  if (front.next) states.release(*front.next);
  front.next.reset();
}

void PhaseSpace::keep_divergence(const PhasePoint& from, Front& to, Direction direction) {
  // The momentum at the end of the failed step is of no use to anyone: its buffer takes the
  // start's. A step back is a step forth with the opposite momentum.
  const double* p = momentum(from.momentum);
  const auto sign = static_cast<double>(direction);
  std::transform(p, p + dimension(), momentum(to.point.momentum),
                 [sign](double entry) { return sign * entry; });
  states.retain(from.state);
  if (to.next) states.release(*to.next);
  divergent_ = DivergentStep{from.state, to.point, guard.last_fault()};
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
  if (path_only && !traits(settings.kind).accepts_each_step) {
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
      recycler_.emplace<KeepSpread<StatePool>>(
          space_.states, count,
          traits(settings_.kind).selects_while_growing ? CellDraw::tree : CellDraw::own);
      break;
    case RecyclingKind::simple:
      recycler_.emplace<KeepSimple<StatePool>>(space_.states, count,
                                               traits(settings_.kind).equal_weights);
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
  has_position_ = true;
}

void HamiltonianKernel::archive(ArchiveWriter& archive) const {
  require_position();
  const StateView view = state();
  archive(std::vector<double>(view.position.begin(), view.position.end()),
          std::vector<double>(view.gradient.begin(), view.gradient.end()), view.log_density,
          space_.guard);
}

void HamiltonianKernel::archive(ArchiveReader& archive) {
  release_last_transition();
  const auto position = archive.get<std::vector<double>>();
  const auto gradient = archive.get<std::vector<double>>();
  if (position.size() != space_.dimension() || gradient.size() != space_.dimension()) {
    throw DataError(fmt::format("stored state: has {} coordinates, the model has {}",
                                position.size(), space_.dimension()));
  }
  std::copy(position.begin(), position.end(), space_.states.position(current_));
  std::copy(gradient.begin(), gradient.end(), space_.states.gradient(current_));
  archive(space_.states.log_density(current_), space_.guard);
  has_position_ = true;
}

void HamiltonianKernel::require_position() const {
  if (!has_position_) throw ConfigError("kernel: it has no position yet; call set_position first");
}

double HamiltonianKernel::one_step_energy_error(const Tuning& tuning, Stream& stream) {
  require_position();
  release_last_transition();
  space_.use(tuning);
  Front from{space_.begin(current_, stream)};
  const double start_energy = space_.states.energy(current_);
  Front to = space_.step(from, tuning.step_size);
  const double error = space_.states.energy(to.point.state) - start_energy;
  const bool moved = !std::ranges::equal(space_.states.view(current_).position,
                                         space_.states.view(to.point.state).position);
  space_.momenta->release(to.point.momentum);
  space_.momenta->release(from.point.momentum);
  space_.release(to);
  return moved ? error : std::numeric_limits<double>::quiet_NaN();
}

PhasePoint HamiltonianKernel::begin_transition(const Tuning& tuning, const Address& address) {
  require_position();
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

  const auto view = [&](StateHandle state) { return space_.states.view(state); };
  // In place, so that a number of views that stays the same takes no care of the vector's size.
  const auto view_all = [&](const auto& kept, const auto& weighted) {
    kept_view_.resize(kept.size());
    std::ranges::transform(kept, kept_view_.begin(), weighted);
  };
  std::visit(
      [&](auto& recycler) {
        if constexpr (std::same_as<std::decay_t<decltype(recycler)>, KeepNone>) {
          const double share = 1.0 / static_cast<double>(accepted_.size());
          view_all(accepted_, [&](StateHandle state) { return WeightedState{view(state), share}; });
        } else {
          view_all(recycler.finish(), [&](const auto& entry) {
            return WeightedState{view(entry.state), entry.weight};
          });
        }
      },
      recycler_);
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
