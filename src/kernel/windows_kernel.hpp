// HMC with windows of acceptance and rejection.
#pragma once

#include <algorithm>
#include <utility>

#include "drawn_selection.hpp"
#include "path_steps.hpp"
#include "rehmc/trajectory/windowed_path.hpp"
#include "trajectory_kernel.hpp"
#include "two_way_walk.hpp"

namespace rehmc {

/// Neal (1994): the chain moves to a state of the last window or to one of the first; recycling
/// uses the states of both by their conditional probabilities.
template <Dynamics D>
class WindowsKernel final : public TrajectoryKernel<D> {
 public:
  WindowsKernel(Density density, const KernelSettings& settings)
      : TrajectoryKernel<D>(std::move(density), settings),
        weighs_states_(settings.masses_differ()) {}

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    using Handle = StatePool::Handle;
    D& dynamics = this->dynamics_;
    const HmcSettings& settings = this->settings_.hmc;
    const typename D::Point start = this->begin_transition(tuning, address);
    const double start_energy = dynamics.states().energy(start.state);
    const std::uint64_t steps = draw_path_steps(settings, tuning.step_size, address);
    const std::uint64_t window = states_in_window(steps);
    const std::uint64_t before = Stream(address, Purpose::direction).below(window);
    const WindowedPath<Handle> path{start.state, steps, window, before};

    TwoWayPathWalk<D> walk(dynamics, start, settings.max_energy_error);
    DrawnSelection selection(dynamics.states(), address);
    WindowedOutcome<Handle> outcome;
    this->with_keeper(
        [&](auto& keeper) { outcome = WindowedWalk(walk, selection, keeper).run(path); });
    walk.finish();

    const bool moves = Stream(address, Purpose::acceptance).chance(outcome.acceptance);
    const Handle next = moves ? outcome.last : outcome.first;
    if (outcome.has_last) dynamics.states().release(moves ? outcome.first : outcome.last);

    Transition& record = this->record_;
    record.ending = outcome.ending;
    record.leapfrogs = walk.leapfrogs();
    record.acceptance = outcome.acceptance;
    record.path_length = static_cast<double>(steps) * tuning.step_size;
    if (weighs_states_) record.mass = static_cast<double>(2 * window);
    return this->finish_transition(next, start_energy);
  }

 private:
  /// At most half of the path's states, whose number may differ from path to path.
  std::uint64_t states_in_window(std::uint64_t steps) const {
    const auto asked = static_cast<std::uint64_t>(this->settings_.hmc.window);
    const std::uint64_t quarter = (steps + 1) / 4;
    return std::clamp<std::uint64_t>(asked > 0 ? asked : quarter, 1, (steps + 1) / 2);
  }

  bool weighs_states_;
};

}  // namespace rehmc
