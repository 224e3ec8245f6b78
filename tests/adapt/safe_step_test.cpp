// Step sizes that suit every place a stage has seen.
#include "src/adapt/safe_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rehmc/core/numerics.hpp"

namespace rehmc::safe_step_test {
namespace {

using Trials = std::vector<std::vector<StepTrial>>;

/// On the curve of fit_step_size where the step of 0.8 is this long.
double acceptance(double step_size, double of_80_percent) {
  const double ratio = step_size / of_80_percent;
  return 2 * normal_cdf(normal_quantile(0.4) * ratio * ratio);
}

/// Chains that all need the same step, but for one part of one of them.
Trials trials(double usual, double narrow, std::size_t first, std::size_t last) {
  Trials all(4);
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (std::size_t i = 0; i < 40; ++i) {
      const double tried = 0.8 + 0.02 * static_cast<double>(i % 20);
      const bool inside = c == 2 && i >= first && i < last;
      all[c].push_back({tried, acceptance(tried, inside ? narrow : usual), 1, 7});
    }
  }
  return all;
}

TEST(SafeStep, IsTheFittedOneWhereAllPlacesAreAlike) {
  EXPECT_EQ(step_accepted_everywhere(trials(1, 1, 0, 0), 1), 1);
}

TEST(SafeStep, IsAcceptedHalfOfTheTimeInANarrowPlace) {
  const double step_size = step_accepted_everywhere(trials(1, 0.3, 20, 40), 1);
  EXPECT_NEAR(acceptance(step_size, 0.3), 0.5, 0.01);
}

TEST(SafeStep, NeedsEnoughTrialsToBelieveInANarrowPlace) {
  Trials few = trials(1, 0.3, 0, 40);
  for (auto& chain : few) chain.resize(19);
  EXPECT_EQ(step_accepted_everywhere(few, 1), 1);
}

/// Trials that diverge with a chance that grows with a power of the step size, in equal shares.
Trials diverging(double share, double power) {
  Trials all(1);
  double due = 0.5;
  for (int i = 0; i < 2000; ++i) {
    const double tried = 0.8 * std::pow(1.75, (i % 40) / 39.0);
    due += share * std::pow(tried, power);
    all[0].push_back({tried, 0.8, 1, due >= 1 ? 0.0 : 7.0});
    if (due >= 1) due -= 1;
  }
  return all;
}

TEST(StepWithoutDivergences, FollowsThePowerWithWhichTheyGrow) {
  // A share of 0.0025 is left.
  EXPECT_NEAR(step_without_divergences(diverging(0.04, 2)), 0.25, 0.02);
  EXPECT_NEAR(step_without_divergences(diverging(0.04, 8)), std::pow(1.0 / 16, 1.0 / 8), 0.03);
}

// As where a model fails at random.
TEST(StepWithoutDivergences, IsUnknownWhereTheStepDoesNotMatter) {
  EXPECT_EQ(step_without_divergences(diverging(0.3, 0)), std::numeric_limits<double>::infinity());
}

TEST(StepWithoutDivergences, IsUnknownFromOne) {
  Trials one = trials(1, 1, 0, 0);
  EXPECT_EQ(step_without_divergences(one), std::numeric_limits<double>::infinity());
  one[1][3].leapfrogs = 0;
  EXPECT_EQ(step_without_divergences(one), std::numeric_limits<double>::infinity());
  one[1][4].leapfrogs = 0;
  EXPECT_LT(step_without_divergences(one), 1.2);
}

}  // namespace
}  // namespace rehmc::safe_step_test
