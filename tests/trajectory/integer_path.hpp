// HMC on integers: a state is a position and a direction, which is drawn like a momentum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/trajectory/path.hpp"
#include "tests/trajectory/integers.hpp"

namespace rehmc::exact {

/// A path to walk: `steps` steps from `start`, up (+1) or down (-1).
struct PathPlan {
  int start;
  int sign;
  int steps;
};

/// The walk of paths along integers.
class IntegerPath {
 public:
  using State = int;

  IntegerPath(const World& world, IntegerStates& states, const PathPlan& plan)
      : world_(world), states_(states), plan_(plan), front_(plan.start) {
    states_.take(plan.start);
    states_.retain(plan.start);
  }

  PathStep<int> step() {
    ++steps_;
    const int next = front_ + plan_.sign;
    if (world_.diverges(next)) return {next, 0.0, true};
    states_.take(next);
    states_.release(front_);
    front_ = next;
    const double log_ratio = world_.log_density(next) - world_.log_density(plan_.start);
    return {next, std::min(1.0, std::exp(log_ratio))};
  }

  int end() const { return front_; }
  int steps() const { return steps_; }
  void finish() {
    states_.release(front_);
    states_.release(plan_.start);
  }

 private:
  const World& world_;
  IntegerStates& states_;
  PathPlan plan_;
  int front_;
  int steps_ = 0;
};

/// A path after its walk.
struct WalkedPath {
  PathOutcome outcome;
  int end;
  int steps;
};

template <class K, class EachStep>
WalkedPath walk_integers(const World& world, IntegerStates& states, const PathPlan& plan, K& keeper,
                         EachStep&& each_step) {
  IntegerPath walk(world, states, plan);
  const Path<int> path{plan.start, static_cast<std::uint64_t>(plan.steps)};
  const PathOutcome outcome = walk_path(walk, path, keeper, each_step);
  walk.finish();
  return {outcome, walk.end(), walk.steps()};
}

/// The expected result of a path: a_k = min(1, pi(z_k)/pi(z_0)) for k = 1 ... steps, 0 from the
/// first divergent state on.
inline std::vector<double> expected_acceptances(const World& world, const PathPlan& plan) {
  std::vector<double> acceptances;
  bool cut = false;
  for (int k = 1; k <= plan.steps; ++k) {
    const int state = plan.start + plan.sign * k;
    cut = cut || world.diverges(state);
    acceptances.push_back(
        cut ? 0.0
            : std::min(1.0, std::exp(world.log_density(state) - world.log_density(plan.start))));
  }
  return acceptances;
}

}  // namespace rehmc::exact
