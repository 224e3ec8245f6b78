// HMC with paths of L steps, each of which may be recycled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "path_walk.hpp"
#include "rehmc/recycle/accept_steps.hpp"
#include "trajectory_kernel.hpp"

namespace rehmc {

/// Recycled HMC: Algorithm 1 of Nishimura & Dunson (2020), for fixed L by its Theorem 1, for random
/// L by its Theorem 2.
template <Dynamics D>
class PathKernel final : public TrajectoryKernel<D> {
 public:
  PathKernel(Density density, const KernelSettings& settings)
      : TrajectoryKernel<D>(std::move(density), settings),
        weighs_states_(settings.masses_differ()) {}

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    using Handle = StatePool::Handle;
    D& dynamics = this->dynamics_;
    const HmcSettings& settings = this->settings_.hmc;
    const typename D::Point start = this->begin_transition(tuning, address);
    const double start_energy = dynamics.states().energy(start.state);
    const Path<Handle> path{start.state, draw_steps(tuning.step_size, address)};
    const double coin = Stream(address, Purpose::acceptance).uniform();

    PathWalk<D> walk(dynamics, start, settings.max_energy_error);
    AcceptSteps<StatePool> accept_steps(dynamics.states(), this->accepted_,
                                        this->settings_.recycling, path,
                                        {coin, Stream(address, Purpose::recycling)});
    PathOutcome outcome;
    this->with_keeper([&](auto& keeper) { outcome = walk_path(walk, path, keeper, accept_steps); });

    const Handle next = coin < outcome.acceptance ? walk.end() : start.state;
    dynamics.states().retain(next);
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
  std::uint64_t draw_steps(double step_size, const Address& address) const {
    const HmcSettings& path = this->settings_.hmc;
    Stream stream(address, Purpose::path_length);
    const auto limit = static_cast<double>(path.max_steps);
    if (path.path_steps > 0) {
      const int most = std::max(path.path_steps, path.path_steps_most);
      const auto choices = static_cast<std::uint64_t>(most - path.path_steps + 1);
      return std::min(static_cast<std::uint64_t>(path.path_steps) + stream.below(choices),
                      static_cast<std::uint64_t>(path.max_steps));
    }
    const double jitter =
        path.jitter_least + (path.jitter_most - path.jitter_least) * stream.uniform();
    const double steps = std::round(jitter * path.path_length / step_size);
    return static_cast<std::uint64_t>(std::clamp(steps, 1.0, limit));
  }

  bool weighs_states_;
};

}  // namespace rehmc
