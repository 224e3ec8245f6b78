// Proof by enumeration that paths of L steps are right.
#include "rehmc/trajectory/path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/trajectory/integer_path.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::path_test {
namespace {

/// One step as `each_step` sees it.
struct SeenStep {
  std::uint64_t k;
  int state;
  double acceptance;
};

struct SeenPath {
  WalkedPath path;
  std::vector<SeenStep> steps;
};

SeenPath walk_and_see(const World& world, const PathPlan& plan) {
  IntegerStates states(world.size());
  NoKeeper keeper;
  SeenPath seen;
  seen.path = walk_integers(world, states, plan, keeper, [&](std::uint64_t k, int state, double a) {
    seen.steps.push_back({k, state, a});
  });
  EXPECT_EQ(states.in_use(), 0);
  return seen;
}

/// Calls `visit(world, plan)` for all starts and directions of many worlds.
template <class Visit>
void for_each_path(int steps, Visit&& visit) {
  std::vector<World> worlds = placed_worlds();
  for (World& world : strewn_worlds(20, 0, 20)) worlds.push_back(std::move(world));
  for (const World& world : worlds) {
    for (int start = 0; start < world.size(); ++start) {
      if (world.diverges(start)) continue;
      for (const int sign : {-1, 1}) visit(world, PathPlan{start, sign, steps});
    }
  }
}

TEST(Path, ShowsEveryStepAndCountsMissingOnesAsRejected) {
  for (int length = 1; length <= 9; ++length) {
    for_each_path(length, [&](const World& world, const PathPlan& plan) {
      const std::vector<double> expected = expected_acceptances(world, plan);
      const SeenPath seen = walk_and_see(world, plan);
      ASSERT_EQ(seen.steps.size(), expected.size());
      bool missing = false;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const int state = plan.start + plan.sign * static_cast<int>(i + 1);
        missing = missing || world.diverges(state);
        ASSERT_EQ(seen.steps[i].k, i + 1);
        ASSERT_EQ(seen.steps[i].state, missing ? plan.start : state);
        ASSERT_EQ(seen.steps[i].acceptance, expected[i]);
      }
      ASSERT_EQ(seen.path.outcome.acceptance, expected.back());
      ASSERT_EQ(seen.path.outcome.ending, missing ? Ending::diverged : Ending::completed);
      if (!missing) {
        ASSERT_EQ(seen.path.end, plan.start + plan.sign * plan.steps);
        ASSERT_EQ(seen.path.steps, plan.steps);
      }
    });
  }
}

TEST(Path, StopsAtADivergence) {
  const World world = bumpy_world(20).diverge_at(13);
  const SeenPath seen = walk_and_see(world, {10, 1, 8});
  EXPECT_EQ(seen.path.outcome.ending, Ending::diverged);
  EXPECT_EQ(seen.path.steps, 3);
  EXPECT_EQ(seen.path.end, 12);
  EXPECT_EQ(seen.path.outcome.acceptance, 0);
  EXPECT_EQ(seen.steps.size(), 8U);
}

/// Keeps what a path gives to the start and to its steps.
struct SeenWeights : NoKeeper {
  void start(int, double weight) { of_start = weight; }
  void leaf(int, double weight) { of_steps += weight; }

  double of_start = -1;
  double of_steps = 0;
};

// Every step counts 1 in total; one that a divergence cut off counts for the start.
TEST(Path, CutShortByADivergenceGivesItsMissingStepsToTheStart) {
  const World world = bumpy_world(20).diverge_at(13);
  const PathPlan plan{10, 1, 8};
  const std::vector<double> acceptances = expected_acceptances(world, plan);
  const double accepted = acceptances[0] + acceptances[1];  // states 11 and 12
  ASSERT_GT(accepted, 0);
  IntegerStates states(world.size());
  SeenWeights seen;
  walk_integers(world, states, plan, seen, [](std::uint64_t, int, double) {});
  EXPECT_DOUBLE_EQ(seen.of_steps, accepted);
  EXPECT_DOUBLE_EQ(seen.of_start, 8 - accepted);
}

TEST(Path, WeightsOfAnyPathSumToItsSteps) {
  for (int length = 1; length <= 9; ++length) {
    for_each_path(length, [&](const World& world, const PathPlan& plan) {
      double accepted = 0;
      for (const double acceptance : expected_acceptances(world, plan)) accepted += acceptance;
      IntegerStates states(world.size());
      SeenWeights seen;
      walk_integers(world, states, plan, seen, [](std::uint64_t, int, double) {});
      ASSERT_NEAR(seen.of_steps, accepted, 1e-13 * length);
      ASSERT_NEAR(seen.of_start, length - accepted, 1e-13 * length);
    });
  }
}

// The chain moves to the end of the path with the probability that the path reports.
TEST(Path, SatisfiesDetailedBalance) {
  for (int length = 1; length <= 9; ++length) {
    for_each_path(length, [&](const World& world, const PathPlan& plan) {
      const SeenPath there = walk_and_see(world, plan);
      if (there.path.outcome.acceptance == 0) return;
      const PathPlan reverse{there.path.end, -plan.sign, plan.steps};
      const SeenPath back = walk_and_see(world, reverse);
      ASSERT_EQ(back.path.end, plan.start);
      ASSERT_NEAR(world.log_density(plan.start) + std::log(there.path.outcome.acceptance),
                  world.log_density(reverse.start) + std::log(back.path.outcome.acceptance), 1e-12);
    });
  }
}

}  // namespace
}  // namespace rehmc::exact::path_test
