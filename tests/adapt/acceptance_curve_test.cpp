// The step size from acceptance at many step sizes.
#include "rehmc/adapt/acceptance_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"

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

/// By 60 halvings of the curve as it is written.
double fit_by_halving(const std::vector<StepTrial>& trials, double acceptance) {
  double smallest = trials.front().step_size;
  double largest = smallest;
  for (const StepTrial& trial : trials) {
    smallest = std::min(smallest, trial.step_size);
    largest = std::max(largest, trial.step_size);
  }
  double low = std::log(2.5e-4 / (largest * largest));
  double high = std::log(7.8 / (smallest * smallest));
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    double excess = 0;
    for (const StepTrial& trial : trials) {
      excess += trial.weight * (trial.acceptance - curve(std::exp(middle), trial.step_size));
    }
    (excess > 0 ? high : low) = middle;
  }
  return std::sqrt(-2 * normal_quantile(0.5 * acceptance) / std::exp(0.5 * (low + high)));
}

// Draws depend on every bit of it.
TEST(AcceptanceCurve, IsThatOfSixtyHalvingsToTheBit) {
  Stream stream({1, 0, 0}, Purpose::test);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<StepTrial> trials(1 + stream.below(40));
    const double scale = std::exp(6 * stream.normal());
    for (StepTrial& trial : trials) {
      trial.step_size = scale * std::exp(0.3 * stream.normal());
      // None, all, and what chance gives about a curve.
      const double about = curve(3 / (scale * scale), trial.step_size);
      trial.acceptance = repeat % 7 == 0   ? 0
                         : repeat % 7 == 1 ? 1
                                           : std::clamp(about + 0.3 * stream.normal(), 0.0, 1.0);
      trial.weight = repeat % 5 == 0 ? 1 : stream.uniform();
    }
    EXPECT_EQ(fit_step_size(trials, 0.8), fit_by_halving(trials, 0.8)) << repeat;
  }
}

}  // namespace
}  // namespace rehmc::acceptance_curve_test
