// The bookkeeping that all kernels share.
#include "trajectory_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/dynamics/leapfrog.hpp"

namespace rehmc {

namespace {

void check_for_kernel(const KernelSettings& settings) {
  settings.check();
  const bool each_step = settings.recycling.kind == RecyclingKind::accept_each ||
                         settings.recycling.kind == RecyclingKind::stride;
  if (each_step && !traits(settings.kind).accepts_each_step) {
    throw ConfigError(fmt::format(
        "recycle: {} needs a path whose steps are accepted one by one; {} has none: use "
        "spread:K, simple:K or all, or kernel hmc",
        describe(settings.recycling), describe(settings.kind)));
  }
}

template <class Recycler>
constexpr bool keeps_none = std::same_as<std::decay_t<Recycler>, KeepNone>;

}  // namespace

template <Dynamics D>
TrajectoryKernel<D>::TrajectoryKernel(Density density, const KernelSettings& settings)
    : settings_((check_for_kernel(settings), settings)),
      dynamics_(std::move(density)),
      current_(dynamics_.states().take()),
      sums_(dynamics_.states()),
      visits_(dynamics_.states()) {
  choose_recycler();
  choose_keeper();
}

template <Dynamics D>
void TrajectoryKernel<D>::choose_recycler() {
  const std::size_t count = settings_.recycling.count;
  const KernelTraits& kernel = traits(settings_.kind);
  switch (settings_.recycling.kind) {
    case RecyclingKind::all:
      recycler_.template emplace<KeepEvery<StatePool>>(dynamics_.states());
      break;
    case RecyclingKind::spread:
      recycler_.template emplace<KeepSpread<StatePool>>(
          dynamics_.states(), count, kernel.selects_while_growing ? CellDraw::tree : CellDraw::own);
      break;
    case RecyclingKind::simple:
      recycler_.template emplace<KeepSimple<StatePool>>(dynamics_.states(), count,
                                                        kernel.equal_weights);
      break;
    case RecyclingKind::recursive:
      recycler_.template emplace<KeepRecursive<StatePool>>(dynamics_.states(), count);
      break;
    case RecyclingKind::none:
    case RecyclingKind::accept_each:
    case RecyclingKind::stride:
      break;
  }
}

template <Dynamics D>
void TrajectoryKernel<D>::set_position(std::span<const double> position) {
  release_last_transition();
  StatePool& states = dynamics_.states();
  const StateHandle fresh = states.take();
  try {
    states.log_density(fresh) =
        dynamics_.guard().evaluate_strictly(position, {states.gradient(fresh), states.dimension()});
  } catch (...) {
    states.release(fresh);
    throw;
  }
  std::copy(position.begin(), position.end(), states.position(fresh));
  states.release(current_);
  current_ = fresh;
  has_position_ = true;
}

template <Dynamics D>
void TrajectoryKernel<D>::record_visits(bool record) {
  recording_ = record;
  choose_keeper();
}

template <Dynamics D>
void TrajectoryKernel<D>::choose_keeper() {
  erased_.reset();
  if (recording_) {
    std::visit([&](auto& recycler) { erased_ = erased(KeepAll(recycler, sums_, visits_)); },
               recycler_);
  } else if (auto* recursive = std::get_if<KeepRecursive<StatePool>>(&recycler_)) {
    erased_ = erased(KeepAll(*recursive, sums_));
  }
}

template <Dynamics D>
void TrajectoryKernel<D>::archive(ArchiveWriter& archive) const {
  require_position();
  const StateView view = state();
  archive(std::vector<double>(view.position.begin(), view.position.end()),
          std::vector<double>(view.gradient.begin(), view.gradient.end()), view.log_density,
          dynamics_.guard());
}

template <Dynamics D>
void TrajectoryKernel<D>::archive(ArchiveReader& archive) {
  release_last_transition();
  StatePool& states = dynamics_.states();
  const auto position = archive.get<std::vector<double>>();
  const auto gradient = archive.get<std::vector<double>>();
  if (position.size() != states.dimension() || gradient.size() != states.dimension()) {
    throw DataError(fmt::format("stored state: has {} coordinates, the model has {}",
                                position.size(), states.dimension()));
  }
  std::copy(position.begin(), position.end(), states.position(current_));
  std::copy(gradient.begin(), gradient.end(), states.gradient(current_));
  archive(states.log_density(current_), dynamics_.guard());
  has_position_ = true;
}

template <Dynamics D>
void TrajectoryKernel<D>::require_position() const {
  if (!has_position_) throw ConfigError("kernel: it has no position yet; call set_position first");
}

template <Dynamics D>
double TrajectoryKernel<D>::one_step_energy_error(const Tuning& tuning, Stream& stream) {
  require_position();
  release_last_transition();
  dynamics_.use(tuning);
  StatePool& states = dynamics_.states();
  typename D::Front from{dynamics_.begin(current_, stream)};
  const double start_energy = states.energy(current_);
  typename D::Front to = dynamics_.step(from, Direction::forward);
  const double error = states.energy(to.point.state) - start_energy - dynamics_.log_jacobian(to);
  const bool moved =
      !std::ranges::equal(states.view(current_).position, states.view(to.point.state).position);
  dynamics_.release_momentum(to.point);
  dynamics_.release_momentum(from.point);
  dynamics_.release(to);
  return moved ? error : nan_value;
}

template <Dynamics D>
auto TrajectoryKernel<D>::begin_states(const Tuning& tuning, const Address& address)
    -> StateHandle {
  require_position();
  release_last_transition();
  dynamics_.use(tuning);
  std::visit(
      [&](auto& recycler) {
        if constexpr (!keeps_none<decltype(recycler)>) {
          recycler.begin(Stream(address, Purpose::recycling));
        }
      },
      recycler_);
  if (sums_.active()) sums_.begin();
  record_ = Transition{};
  record_.step_size = tuning.step_size;
  return current_;
}

template <Dynamics D>
typename D::Point TrajectoryKernel<D>::begin_transition(const Tuning& tuning,
                                                        const Address& address,
                                                        const std::optional<KeptMomentum>& kept) {
  const StateHandle state = begin_states(tuning, address);
  Stream momentum_stream(address, Purpose::momentum);
  return kept ? dynamics_.begin(state, momentum_stream, *kept)
              : dynamics_.begin(state, momentum_stream);
}

template <Dynamics D>
const Transition& TrajectoryKernel<D>::finish_transition(StateHandle next, double start_energy) {
  StatePool& states = dynamics_.states();
  states.release(current_);
  current_ = next;
  record_.state = states.view(next);
  record_.energy = states.energy(next);
  record_.energy_error = record_.energy - start_energy;
  if (record_.ending == Ending::diverged) record_.divergence = dynamics_.divergence();
  view_kept();
  if (sums_.active()) record_.feature_means = sums_.finish();
  if (recording_) view_visited();
  return record_;
}

template <Dynamics D>
void TrajectoryKernel<D>::view_kept() {
  const auto view = [&](StateHandle state) { return dynamics_.states().view(state); };
  // In place, so that a number of views that stays the same takes no care of the vector's size.
  const auto view_all = [&](const auto& kept, const auto& weighted) {
    kept_view_.resize(kept.size());
    std::ranges::transform(kept, kept_view_.begin(), weighted);
  };
  slots_.clear();
  std::visit(
      [&](auto& recycler) {
        if constexpr (keeps_none<decltype(recycler)>) {
          const double share = 1.0 / static_cast<double>(accepted_.size());
          view_all(accepted_, [&](StateHandle state) { return WeightedState{view(state), share}; });
          if (recording_) slots_ = accepted_;
        } else {
          const auto& kept = recycler.finish();
          view_all(kept, [&](const auto& entry) {
            return WeightedState{view(entry.state), entry.weight};
          });
          if (recording_) {
            for (const auto& entry : kept) slots_.push_back(entry.state);
          }
        }
      },
      recycler_);
  if (kept_view_.empty()) {
    kept_view_.push_back({record_.state, 1.0});
    if (recording_) slots_.push_back(current_);
  }
  record_.recycled = kept_view_;
}

template <Dynamics D>
void TrajectoryKernel<D>::view_visited() {
  if (record_.ending == Ending::diverged) {
    visits_.diverged(dynamics_.divergent_state(), dynamics_.divergent_direction());
  }
  visited_view_.clear();
  for (const auto& visit : visits_.finish()) {
    const auto slots = std::ranges::count(slots_, visit.state);
    visited_view_.push_back({dynamics_.states().view(visit.state), visit.place, visit.weight,
                             static_cast<std::uint32_t>(slots), visit.dropped,
                             visit.state == current_});
  }
  record_.visited = visited_view_;
}

template <Dynamics D>
void TrajectoryKernel<D>::release_last_transition() {
  std::visit(
      [](auto& recycler) {
        if constexpr (!keeps_none<decltype(recycler)>) recycler.clear();
      },
      recycler_);
  for (const StateHandle state : accepted_) dynamics_.states().release(state);
  accepted_.clear();
  visits_.clear();
  dynamics_.drop_divergence();
}

template class TrajectoryKernel<Leapfrog>;

}  // namespace rehmc
