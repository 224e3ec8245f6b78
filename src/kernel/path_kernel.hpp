// HMC with paths of L steps, each of which may be recycled.
#pragma once

#include <utility>

#include "momentum_memory.hpp"
#include "path_steps.hpp"
#include "path_walk.hpp"
#include "rehmc/recycle/accept_steps.hpp"
#include "trajectory_kernel.hpp"

namespace rehmc {

/// Recycled HMC: Algorithm 1 of Nishimura & Dunson (2020), for fixed L by its Theorem 1, for random
/// L by its Theorem 2.
///
/// With `momentum_kept`, the momentum belongs to the chain's state: a share of it survives the next
/// refreshment, and it changes its sign where the end of a path is rejected (Horowitz 1991). Both
/// leave the joint law of position and momentum invariant, and so does each step of the path that
/// is accepted or else answered by the start with the opposite momentum: Theorem 3 with z = (x, p).
/// Positions have the same weights as without it.
template <Dynamics D>
class PathKernel final : public TrajectoryKernel<D> {
 public:
  PathKernel(Density density, const KernelSettings& settings)
      : TrajectoryKernel<D>(std::move(density), settings),
        weighs_states_(settings.masses_differ()),
        momentum_(settings.hmc.momentum_kept, this->dynamics_.states().dimension()) {}

  void set_position(std::span<const double> position) override {
    TrajectoryKernel<D>::set_position(position);
    momentum_.forget();
  }
  void archive(ArchiveWriter& archive) const override {
    TrajectoryKernel<D>::archive(archive);
    momentum_.archive(archive);
  }
  void archive(ArchiveReader& archive) override {
    TrajectoryKernel<D>::archive(archive);
    momentum_.archive(archive);
  }

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    using Handle = StatePool::Handle;
    D& dynamics = this->dynamics_;
    const HmcSettings& settings = this->settings_.hmc;
    const typename D::Point start = this->begin_transition(tuning, address, momentum_.use(tuning));
    const double start_energy = dynamics.states().energy(start.state);
    const Path<Handle> path{start.state, draw_path_steps(settings, tuning.step_size, address)};
    momentum_.keep(dynamics.momentum(start), -1);
    const double coin = Stream(address, Purpose::acceptance).uniform();

    PathWalk<D> walk(dynamics, start, settings.max_energy_error);
    AcceptSteps<StatePool> accept_steps(dynamics.states(), this->accepted_,
                                        this->settings_.recycling, path,
                                        {coin, Stream(address, Purpose::recycling)});
    PathOutcome outcome;
    this->with_keeper([&](auto& keeper) { outcome = walk_path(walk, path, keeper, accept_steps); });

    const bool accepted = coin < outcome.acceptance;
    const Handle next = accepted ? walk.end() : start.state;
    dynamics.states().retain(next);
    if (accepted) momentum_.keep(dynamics.momentum(walk.end_point()), 1);
    walk.finish();

    Transition& record = this->record_;
    record.ending = outcome.ending;
    record.leapfrogs = walk.leapfrogs();
    record.acceptance = outcome.acceptance;
    record.path_length = static_cast<double>(path.steps) * tuning.step_size;
    if (weighs_states_) record.mass = static_cast<double>(path.steps);
    return this->finish_transition(next, start_energy);
  }

 private:
  bool weighs_states_;
  MomentumMemory momentum_;
};

}  // namespace rehmc
