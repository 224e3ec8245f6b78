// The cost of trees at other step sizes, and the step size that follows from it.
#include "src/adapt/tree_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::tree_cost_test {
namespace {

/// Leapfrogs of a tree whose trajectory turns at this time.
double leapfrogs(double time, double step_size) {
  int depth = 1;
  while ((std::ldexp(1.0, depth) - 1) * step_size < time) ++depth;
  return std::ldexp(1.0, depth) - 1;
}

/// Trials whose times of turning are lognormal about pi, at step sizes spread about one.
std::vector<StepTrial> trials(double step_size, double sd, int count) {
  std::vector<StepTrial> result;
  Stream stream({1, 0, 0}, Purpose::test);
  for (int i = 0; i < count; ++i) {
    const double place = (i + 0.5) / count;
    const double tried =
        step_size * least_step_factor * std::pow(most_step_factor / least_step_factor, place);
    const double time = std::numbers::pi * std::exp(sd * stream.normal());
    result.push_back({tried, 0.8, 1, leapfrogs(time, tried)});
  }
  return result;
}

TEST(TreeCost, JumpsWhereAllTrajectoriesTurnAtOneTime) {
  const TreeCost cost(trials(0.95, 0, 40), 10);
  EXPECT_NEAR(cost.leapfrogs(1.2), 3, 0.2);
  EXPECT_NEAR(cost.leapfrogs(0.8), 7, 0.4);
  EXPECT_NEAR(cost.leapfrogs(0.6), 7, 0.4);
}

TEST(TreeCost, IsSmoothWhereTimesOfTurningVary) {
  const TreeCost cost(trials(0.5, 0.8, 400), 10);
  for (const double step_size : {0.4, 0.5, 0.6}) {
    double expected = 0;
    constexpr int times = 2000;
    for (int i = 0; i < times; ++i) {
      const double normal = normal_quantile((i + 0.5) / times);
      expected += leapfrogs(std::numbers::pi * std::exp(0.8 * normal), step_size) / times;
    }
    EXPECT_NEAR(cost.leapfrogs(step_size), expected, 0.15 * expected);
  }
}

TEST(TreeCost, IsBoundedByTheLimitOfTrees) {
  std::vector<StepTrial> limited{{1e-3, 0.8, 1, 63}, {2e-3, 0.8, 1, 63}};
  EXPECT_NEAR(TreeCost(limited, 6).leapfrogs(1e-3), 63, 1);
  EXPECT_LE(TreeCost(limited, 6).leapfrogs(1e-5), 63);
}

TEST(TreeCost, IsUnknownWithoutTrials) {
  const std::vector<StepTrial> diverged{{1, 0.1, 1, 0}};
  EXPECT_FALSE(TreeCost(diverged, 10).known());
  EXPECT_EQ(most_efficient_step_size({0.7, 0.8}, TreeCost(diverged, 10)), 0.7);
}

double choose(double fitted, double sd, double acceptance = 0.8, bool cautious = false) {
  const TreeCost cost(trials(fitted, sd, sd > 0 ? 400 : 40), 10);
  return most_efficient_step_size({fitted, acceptance, cautious}, cost);
}

// 0.95 is just below the boundary pi / 3, beyond which trees have 3 leapfrogs instead of 7.
TEST(StepChoice, CrossesABoundaryOfDepth) {
  EXPECT_GT(choose(0.95, 0), std::numbers::pi / 3);
  EXPECT_LT(choose(0.95, 0), 1.2);
  EXPECT_LE(choose(0.95, 0, 0.8, true), 0.95) << "where no longer step is allowed";
}

// Between pi / 7 and pi / 3 all steps cost the same: shorter ones are accepted more often.
TEST(StepChoice, IsNoLongerThanItsCostAllows) {
  EXPECT_GT(choose(0.6, 0), std::numbers::pi / 7);
  EXPECT_LT(choose(0.6, 0), 0.55);
}

// Without boundaries, the acceptance asked for is best, but the choice is flat.
TEST(StepChoice, KeepsTheAcceptanceAskedForWhereCostIsSmooth) {
  for (const double acceptance : {0.7, 0.8, 0.95}) {
    EXPECT_NEAR(std::log(choose(0.5, 0.8, acceptance) / 0.5), 0, 0.25) << acceptance;
  }
}

}  // namespace
}  // namespace rehmc::tree_cost_test
