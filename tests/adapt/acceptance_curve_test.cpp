// The step size from acceptance at many step sizes.
#include "rehmc/adapt/acceptance_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rehmc/core/numerics.hpp"

namespace rehmc::acceptance_curve_test {
namespace {

double curve(double c, double step_size) {
  return 2 * normal_cdf(-0.5 * c * step_size * step_size);
}

TEST(AcceptanceCurve, IsFoundFromTrialsAtOtherStepSizes) {
  const double c = 3;
  std::vector<StepTrial> trials;
  for (const double step_size : {0.1, 0.3, 0.9}) {
    trials.push_back({step_size, curve(c, step_size), 1});
  }
  for (const double target : {0.6, 0.8, 0.95}) {
    EXPECT_NEAR(curve(c, fit_step_size(trials, target)), target, 1e-9);
  }
}

// Mean acceptance at one step size is what was asked for, however it varies: the fault of averaging
// step sizes instead.
TEST(AcceptanceCurve, AveragesAcceptanceNotStepSizes) {
  const std::vector<StepTrial> trials{{0.5, 0.6, 1}, {0.5, 1.0, 1}};
  EXPECT_NEAR(fit_step_size(trials, 0.8), 0.5, 1e-9);
}

TEST(AcceptanceCurve, WeighsTrials) {
  const std::vector<StepTrial> trials{{0.5, 0.8, 1e6}, {0.5, 0.0, 1}};
  EXPECT_NEAR(fit_step_size(trials, 0.8), 0.5, 1e-4);
}

TEST(AcceptanceCurve, StaysInSightOfTheTrials) {
  for (const double acceptance : {0.0, 1.0}) {
    const double step_size = fit_step_size(std::vector<StepTrial>{{0.5, acceptance, 1}}, 0.8);
    EXPECT_GT(step_size, 0.5 / 100);
    EXPECT_LT(step_size, 0.5 * 100);
  }
}

}  // namespace
}  // namespace rehmc::acceptance_curve_test
