// Paths on integers that grow in both directions, and what is expected of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/trajectory/symmetric_path.hpp"
#include "rehmc/trajectory/windowed_path.hpp"
#include "tests/trajectory/integer_path.hpp"
#include "tests/trajectory/integers.hpp"

namespace rehmc::exact {

/// The walk of integers.hpp with forward in time meaning up (sign +1) or down (sign -1).
class SignedWalk {
 public:
  using State = int;

  SignedWalk(const World& world, IntegerStates& states, int start, int sign)
      : walk_((states.take(start), world), states, Trajectory{.start = start}),
        states_(states),
        start_(start),
        sign_(sign) {}

  void begin_half(Direction direction) { walk_.begin_half(along(direction)); }
  Leaf<int> step() { return walk_.step(); }
  void keep_half() { walk_.keep_half(); }
  void finish() {
    walk_.finish();
    states_.release(start_);
  }
  int steps() const { return walk_.steps(); }

 private:
  Direction along(Direction direction) const {
    return static_cast<int>(direction) * sign_ > 0 ? Direction::forward : Direction::backward;
  }

  IntegerWalk walk_;
  IntegerStates& states_;
  int start_;
  int sign_;
};

static_assert(TwoWayWalk<SignedWalk>);

/// `backward` of the plan's steps go back in time.
template <class K>
SymmetricOutcome walk_symmetric_integers(const World& world, IntegerStates& states,
                                         const PathPlan& plan, int backward, K& keeper) {
  SignedWalk walk(world, states, plan.start, plan.sign);
  const SymmetricPath<int> path{plan.start, static_cast<std::uint64_t>(backward),
                                static_cast<std::uint64_t>(plan.steps - backward)};
  const SymmetricOutcome outcome = walk_symmetric(walk, path, keeper);
  walk.finish();
  return outcome;
}

/// `before` of the first window's states precede the start.
template <class K>
WindowedOutcome<MixedSelection::Selected> walk_windowed_integers(const World& world,
                                                                 IntegerStates& states,
                                                                 const PathPlan& plan, int window,
                                                                 int before, K& keeper) {
  SignedWalk walk(world, states, plan.start, plan.sign);
  MixedSelection selection;
  const WindowedPath<int> path{plan.start, static_cast<std::uint64_t>(plan.steps),
                               static_cast<std::uint64_t>(window),
                               static_cast<std::uint64_t>(before)};
  const auto outcome = WindowedWalk(walk, selection, keeper).run(path);
  walk.finish();
  return outcome;
}

/// The states of a stretch that can be reached from `start` without passing a divergent one, with
/// their densities relative to the start's; by definition.
struct Reachable {
  int state;
  double ratio;
};

inline std::vector<Reachable> reachable(const World& world, int start, int from, int to) {
  std::vector<Reachable> states;
  const auto blocked = [&](int state) {
    const int step = state < start ? 1 : -1;
    for (int s = state; s != start; s += step) {
      if (world.diverges(s)) return true;
    }
    return false;
  };
  for (int state = std::min(from, to); state <= std::max(from, to); ++state) {
    if (blocked(state)) continue;
    states.push_back({state, std::exp(world.log_density(state) - world.log_density(start))});
  }
  return states;
}

}  // namespace rehmc::exact
