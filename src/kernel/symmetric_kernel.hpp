// HMC with paths that begin at a random place within themselves.
#pragma once

#include <utility>

#include "path_steps.hpp"
#include "rehmc/trajectory/symmetric_path.hpp"
#include "trajectory_kernel.hpp"
#include "two_way_walk.hpp"

namespace rehmc {

/// Calderhead (2014) and Bernton et al. (2015), as Nishimura & Dunson (2020) state them in
/// Algorithm 4: the chain moves to the farther end of the path or stays, and all K + 1 states are
/// recycled by their density. Recycling `simple` is Algorithm 4, `all` its Rao-Blackwellization,
/// Algorithm 5.
template <Dynamics D>
class SymmetricKernel final : public TrajectoryKernel<D> {
 public:
  SymmetricKernel(Density density, const KernelSettings& settings)
      : TrajectoryKernel<D>(std::move(density), settings),
        weighs_states_(settings.masses_differ()) {}

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    using Handle = StatePool::Handle;
    D& dynamics = this->dynamics_;
    const HmcSettings& settings = this->settings_.hmc;
    const typename D::Point start = this->begin_transition(tuning, address);
    const double start_energy = dynamics.states().energy(start.state);
    const std::uint64_t steps = draw_path_steps(settings, tuning.step_size, address);
    const std::uint64_t backward = Stream(address, Purpose::direction).below(steps + 1);
    const SymmetricPath<Handle> path{start.state, backward, steps - backward};

    TwoWayPathWalk<D> walk(dynamics, start, settings.max_energy_error);
    SymmetricOutcome outcome;
    this->with_keeper([&](auto& keeper) { outcome = walk_symmetric(walk, path, keeper); });

    const bool moves = Stream(address, Purpose::acceptance).chance(outcome.acceptance);
    const Handle next = moves ? walk.end(path.farther()) : start.state;
    dynamics.states().retain(next);
    walk.finish();

    Transition& record = this->record_;
    record.ending = outcome.ending;
    record.leapfrogs = walk.leapfrogs();
    record.acceptance = outcome.acceptance;
    record.path_length = static_cast<double>(steps) * tuning.step_size;
    if (weighs_states_) record.mass = static_cast<double>(steps + 1);
    return this->finish_transition(next, start_energy);
  }

 private:
  bool weighs_states_;
};

}  // namespace rehmc
