// NUTS: doubling trees along the steps of a dynamics, with any weights and turning criterion.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "drawn_selection.hpp"
#include "trajectory_kernel.hpp"
#include "tree_walk.hpp"

namespace rehmc {

/// Dynamics x turning criterion x weights; recycling is the user's choice.
template <Dynamics D, class Turning, class Weights>
class TreeKernel final : public TrajectoryKernel<D> {
 public:
  TreeKernel(Density density, const KernelSettings& settings)
      : TrajectoryKernel<D>(std::move(density), settings) {
    stack_.reserve(static_cast<std::size_t>(settings.nuts.max_depth) + 1);
  }

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    D& dynamics = this->dynamics_;
    const typename D::Point start = this->begin_transition(tuning, address);
    const double start_energy = dynamics.states().energy(start.state);
    TreeWalk<D, Turning, Weights> walk(dynamics, start, weights(address));
    DrawnSelection selection(dynamics.states(), address);
    const std::uint64_t directions = Stream(address, Purpose::direction).bits();

    Branch tree{Turning::leaf(dynamics, start), selection.leaf(start.state), 1.0};
    TreeOutcome outcome;
    this->with_keeper([&](auto& keeper) {
      keeper.start(start.state, 1.0);
      Tree grower(stack_, walk, selection, keeper);
      outcome = grower.grow(tree, directions, this->settings_.nuts.max_depth);
    });

    Turning::release(dynamics, tree.segment);
    walk.finish();

    Transition& record = this->record_;
    record.ending = outcome.ending;
    record.depth = outcome.depth;
    record.leapfrogs = walk.leapfrogs();
    record.acceptance = walk.acceptance();
    record.path_length = walk.leapfrogs() * tuning.step_size;
    return this->finish_transition(tree.selected, start_energy);
  }

 private:
  using Branch = Subtree<typename Turning::Segment, StatePool::Handle>;

  Weights weights(const Address& address) const {
    const double limit = this->settings_.nuts.max_energy_error;
    if constexpr (std::same_as<Weights, SliceWeights>) {
      return {limit, std::log(Stream(address, Purpose::slice).uniform())};
    } else {
      return {limit};
    }
  }

  std::vector<Branch> stack_;
};

}  // namespace rehmc
