// Proof by enumeration that symmetric and windowed paths, and what is recycled of them, are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "rehmc/recycle/recursive.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "tests/recycle/branching.hpp"
#include "tests/recycle/tally.hpp"
#include "tests/trajectory/integer_two_way.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::two_way_exactness_test {
namespace {

/// Worlds with walls, and one with a rise so high that weights need a scale of their own.
std::vector<World> two_way_worlds() {
  std::vector<World> worlds;
  worlds.push_back(bumpy_world(13));
  worlds.push_back(bumpy_world(13).diverge_at(6));
  std::vector<double> steep(13, 0.0);
  for (std::size_t i = 7; i < steep.size(); ++i) steep[i] = 400.0 + static_cast<double>(i % 3);
  worlds.emplace_back(steep);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    worlds.push_back(random_world({.size = 13, .spread = 3, .divergent = 0.1}, 300 + seed));
  }
  return worlds;
}

/// One path: `offset` is what the kernels draw besides the direction, from 0 to offsets() - 1.
struct TwoWayPlan {
  PathPlan path;
  int window;  ///< 0 for a symmetric path
  int offset;

  int offsets() const { return window == 0 ? path.steps + 1 : window; }
  /// The first and the last state of the whole path.
  int from() const { return path.start - path.sign * offset; }
  int to() const { return from() + path.sign * path.steps; }
};

template <class K>
void walk(const World& world, IntegerStates& states, const TwoWayPlan& plan, K& keeper) {
  if (plan.window == 0) {
    walk_symmetric_integers(world, states, plan.path, plan.offset, keeper);
  } else {
    walk_windowed_integers(world, states, plan.path, plan.window, plan.offset, keeper);
  }
}

/// The law of the chain's next state, from the outcome of the walk.
Tally next_state(const World& world, const TwoWayPlan& plan) {
  IntegerStates states(world.size());
  NoKeeper keeper;
  Tally next(world);
  if (plan.window == 0) {
    const auto outcome = walk_symmetric_integers(world, states, plan.path, plan.offset, keeper);
    const bool forward = 2 * plan.offset <= plan.path.steps;
    if (outcome.acceptance > 0) next[forward ? plan.to() : plan.from()] += outcome.acceptance;
    next[plan.path.start] += 1 - outcome.acceptance;
  } else {
    const auto outcome =
        walk_windowed_integers(world, states, plan.path, plan.window, plan.offset, keeper);
    for (const auto& chance : outcome.first) {
      next[chance.state] += (1 - outcome.acceptance) * chance.probability;
    }
    for (const auto& chance : outcome.last) {
      next[chance.state] += outcome.acceptance * chance.probability;
    }
  }
  EXPECT_EQ(states.in_use(), 0);
  return next;
}

double total_of(const std::vector<Reachable>& states) {
  double total = 0;
  for (const Reachable& each : states) total += each.ratio;
  return total;
}

/// The weights by definition: eq. (B.3) of Nishimura & Dunson (2020), or Neal (1994).
Tally expected_weights(const World& world, const TwoWayPlan& plan) {
  Tally weights(world);
  const int start = plan.path.start;
  const auto add = [&](const std::vector<Reachable>& states, double share) {
    const double total = total_of(states);
    for (const Reachable& each : states) weights[each.state] += share * each.ratio / total;
  };
  if (plan.window == 0) {
    add(reachable(world, start, plan.from(), plan.to()), 1);
    return weights;
  }
  const int inner = plan.path.sign * (plan.window - 1);
  const auto first = reachable(world, start, plan.from(), plan.from() + inner);
  const auto last = reachable(world, start, plan.to() - inner, plan.to());
  const double acceptance = last.empty() ? 0 : std::min(1.0, total_of(last) / total_of(first));
  add(first, 1 - acceptance);
  if (acceptance > 0) add(last, acceptance);
  return weights;
}

enum class Kind { all, spread, simple, recursive };

/// The expected number of slots of each state; for `all`, the weights themselves.
Tally expected_slots(const World& world, const TwoWayPlan& plan, Kind kind, std::size_t count) {
  IntegerStates states(world.size());
  Explorer explorer;
  Tally slots(world);
  double total = 0;
  const auto run = [&](auto& recycler, auto&& begin) {
    explorer.explore([&] {
      recycler.begin(begin());
      walk(world, states, plan, recycler);
      for (const auto& entry : recycler.finish()) {
        const double number = kind == Kind::all ? 1 : static_cast<double>(count);
        slots[entry.state] += explorer.probability() * number * entry.weight;
      }
      total += explorer.probability();
      recycler.clear();
      ASSERT_EQ(states.in_use(), 0);
    });
  };
  if (kind == Kind::all) {
    KeepEvery<IntegerStates> every(states);
    run(every, [] { return Stream({}, Purpose::test); });
  } else if (kind == Kind::spread) {
    KeepSpread<IntegerStates, BranchingRandom> spread(states, count, CellDraw::own);
    run(spread, [&] { return BranchingRandom(explorer, spread.kept(), count); });
  } else if (kind == Kind::simple) {
    KeepSimple<IntegerStates, BranchingRandom> simple(states, count, false);
    run(simple, [&] { return BranchingRandom(explorer); });
  } else {
    KeepRecursive<IntegerStates, BranchingRandom> recursive(states, count);
    run(recursive, [&] { return BranchingRandom(explorer); });
  }
  EXPECT_NEAR(total, 1, 1e-12);
  return slots;
}

/// The distance from the target of the mixture over starts, directions and offsets.
template <class Keep>
double two_way_bias(const World& world, int steps, int window, Keep&& keep) {
  return bias(world, [&](int start) {
    Tally kept(world);
    for (const int sign : {-1, 1}) {
      const int offsets = TwoWayPlan{{start, sign, steps}, window, 0}.offsets();
      for (int offset = 0; offset < offsets; ++offset) {
        kept.add(0.5 / offsets, keep(TwoWayPlan{{start, sign, steps}, window, offset}));
      }
    }
    return kept;
  });
}

/// All windows that a path of `steps` steps may have; 0 is the symmetric path.
std::vector<int> windows_of(int steps) {
  std::vector<int> windows{0};
  for (int window = 1; 2 * window <= steps + 1; ++window) windows.push_back(window);
  return windows;
}

void expect_exact(Kind kind, std::size_t count, int most_steps) {
  for (const World& world : two_way_worlds()) {
    for (int steps = 1; steps <= most_steps; ++steps) {
      for (const int window : windows_of(steps)) {
        const double number = kind == Kind::all ? 1 : static_cast<double>(count);
        EXPECT_LT(two_way_bias(world, steps, window,
                               [&](const TwoWayPlan& plan) {
                                 const Tally slots = expected_slots(world, plan, kind, count);
                                 EXPECT_LT(slots.distance(expected_weights(world, plan), number),
                                           1e-12);
                                 return slots;
                               }),
                  1e-12);
      }
    }
  }
}

TEST(TwoWay, TheChainLeavesTheTargetInvariant) {
  for (const World& world : two_way_worlds()) {
    for (int steps = 1; steps <= 9; ++steps) {
      for (const int window : windows_of(steps)) {
        EXPECT_LT(two_way_bias(world, steps, window,
                               [&](const TwoWayPlan& plan) { return next_state(world, plan); }),
                  1e-12)
            << steps << " steps, window " << window;
      }
    }
  }
}

// Neal's weights are the law of the next state given the path.
TEST(Windowed, WeightsAreTheLawOfTheNextState) {
  for (const World& world : two_way_worlds()) {
    for (const int window : {1, 2, 3}) {
      two_way_bias(world, 6, window, [&](const TwoWayPlan& plan) {
        const Tally next = next_state(world, plan);
        EXPECT_LT(next.distance(expected_weights(world, plan), 1), 1e-12);
        return next;
      });
    }
  }
}

TEST(AllOfTwoWay, WeighsEveryStateExactly) { expect_exact(Kind::all, 0, 9); }

TEST(SpreadOfTwoWay, SlotsFollowTheWeights) {
  for (const std::size_t count : {1, 2, 3}) expect_exact(Kind::spread, count, 5);
  expect_exact(Kind::spread, 12, 5);
}

TEST(SimpleOfTwoWay, SlotsFollowTheWeights) {
  expect_exact(Kind::simple, 1, 6);
  expect_exact(Kind::simple, 2, 4);
}

TEST(RecursiveOfTwoWay, SlotsFollowTheWeights) {
  for (const std::size_t count : {1, 2, 3, 5, 12}) expect_exact(Kind::recursive, count, 6);
  expect_exact(Kind::recursive, most_copies + 1, 3);
}

// Plausible but wrong rules, which the same check rejects.

// From another state of the set, the path whose middle that state is would be another set.
TEST(Symmetric, RejectsStartsThatAreAlwaysInTheMiddle) {
  const World world = bumpy_world(13);
  EXPECT_GT(bias(world,
                 [&](int start) {
                   return expected_weights(world, {{start, 1, 6}, 0, 3});
                 }),
            1e-3);
}

TEST(Symmetric, RejectsLeavingOutStatesBeforeTheStart) {
  const World world = bumpy_world(13);
  EXPECT_GT(two_way_bias(world, 6, 0,
                         [&](const TwoWayPlan& plan) {
                           Tally weights(world);
                           const auto states =
                               reachable(world, plan.path.start, plan.path.start, plan.to());
                           const double total = total_of(states);
                           for (const Reachable& each : states) {
                             weights[each.state] += each.ratio / total;
                           }
                           return weights;
                         }),
            1e-3);
}

TEST(Windowed, RejectsStartsThatAreAlwaysFirstInTheirWindow) {
  const World world = bumpy_world(13);
  EXPECT_GT(bias(world,
                 [&](int start) {
                   Tally kept(world);
                   for (const int sign : {-1, 1}) {
                     kept.add(0.5, expected_weights(world, {{start, sign, 6}, 3, 0}));
                   }
                   return kept;
                 }),
            1e-3);
}

TEST(Windowed, RejectsTheLastWindowAlone) {
  const World world = bumpy_world(13);
  EXPECT_GT(two_way_bias(world, 6, 2,
                         [&](const TwoWayPlan& plan) {
                           Tally weights(world);
                           const int inner = plan.path.sign;
                           const auto last =
                               reachable(world, plan.path.start, plan.to() - inner, plan.to());
                           if (last.empty()) return expected_weights(world, plan);
                           const double total = total_of(last);
                           for (const Reachable& each : last) {
                             weights[each.state] += each.ratio / total;
                           }
                           return weights;
                         }),
            1e-3);
}

}  // namespace
}  // namespace rehmc::exact::two_way_exactness_test
