// The spot check of a gradient: how small an error it finds, which coordinates it checks.
#include "rehmc/model/spot_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace rehmc::testing::spot_check_test {
namespace {

constexpr std::size_t dimension = 5;

/// sum_i -x_i^4 - x_i^2 / 2, one of whose derivatives has a relative error.
Density wrong_in(std::size_t coordinate, double error) {
  return FunctionDensity(dimension, [=](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -4 * x[i] * x[i] * x[i] - x[i];
      sum -= x[i] * x[i] * x[i] * x[i] + x[i] * x[i] / 2;
    }
    gradient[coordinate] *= 1 + error;
    return sum;
  });
}

/// At a point where all other derivatives are 0: the relative error along any direction is then
/// that of the wrong coordinate, and whether it is found depends on no random number.
SpotCheck look(std::size_t coordinate, double error, std::size_t first = 0,
               std::size_t count = dimension) {
  std::vector<double> x(dimension, 0.0);
  x[coordinate] = 0.8;
  const std::vector<double> steps(dimension, 0.3);
  Stream stream({.seed = 1}, Purpose::test);
  return spot_check(wrong_in(coordinate, error), x, steps, first, count, stream);
}

TEST(SpotCheck, NamesACoordinateThatIsWrongByTwoInTenThousand) {
  for (std::size_t coordinate = 0; coordinate < dimension; ++coordinate) {
    for (const double error : {2e-4, -2e-4, 0.03}) {
      const SpotCheck check = look(coordinate, error);
      EXPECT_FALSE(check.passed) << error;
      EXPECT_EQ(check.where, "x[" + std::to_string(coordinate + 1) + "]");
      EXPECT_GE(check.directions, coordinate + 2) << "looks again";
      EXPECT_LE(check.directions, coordinate + 3) << "stops at the first that fails";
      EXPECT_NEAR(check.analytic / check.numeric, 1 + error, 1e-6);
    }
  }
}

// Models that solve equations have gradients no better than this.
TEST(SpotCheck, PassesACoordinateThatIsWrongByHalfOfOneInTenThousand) {
  for (std::size_t coordinate = 0; coordinate < dimension; ++coordinate) {
    for (const double error : {0.0, 5e-5, -5e-5}) {
      const SpotCheck check = look(coordinate, error);
      EXPECT_TRUE(check.passed) << error << " in " << check.where;
      EXPECT_EQ(check.directions, dimension + 1);
    }
  }
}

TEST(SpotCheck, ChecksSomeCoordinatesAndWrapsAround) {
  EXPECT_EQ(look(0, 2e-4, 4, 2).where, "x[1]");
  EXPECT_EQ(look(4, 2e-4, 4, 2).where, "x[5]");
  // A coordinate that was not checked shows only along the random direction.
  EXPECT_EQ(look(2, 2e-4, 4, 2).where, "a random direction");
  EXPECT_EQ(look(2, 0, 4, 2).directions, 3U);
}

/// A normal distribution whose gradient has the error of an equation that is solved to 2e-5 of a
/// typical derivative, as solvers of differential equations have; or one wrong derivative.
Density rough_normal(double scale, double roughness, double wrong = 0) {
  return FunctionDensity(dimension, [=](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = x[i] / scale;
      gradient[i] = (-z * (i == 2 ? 1 + wrong : 1.0) + roughness) / scale;
      sum -= z * z / 2;
    }
    return sum;
  });
}

SpotCheck look_at(const Density& density, std::span<const double> x, double step,
                  std::uint64_t seed) {
  const std::vector<double> steps(dimension, step);
  Stream stream({.seed = seed}, Purpose::test);
  return spot_check(density, x, steps, 0, dimension, stream);
}

// The derivative is 0.02 there, and 2e-5 is 1e-3 of it.
TEST(SpotCheck, PassesADerivativeThatHappensToBeNearlyZero) {
  for (const double scale : {1e-3, 1.0, 1e3}) {
    const std::vector<double> x(dimension, 0.02 * scale);
    // Whether the steps are those of the density, or of a metric that knows nothing of it.
    for (const double step : {scale, 1.0}) {
      const SpotCheck check = look_at(rough_normal(scale, 2e-5), x, step, 1);
      EXPECT_TRUE(check.passed) << scale << " " << step << " " << check.where;
      EXPECT_TRUE(check.where.empty());
      // What is far larger than such an error is found there as well.
      EXPECT_FALSE(look_at(rough_normal(scale, 1e-3), x, step, 1).passed) << scale << " " << step;
    }
  }
}

// At states of the density itself, an error of 1% is missed where |z| < 0.01, and often where |z| <
// 0.015, since it must show in a second direction as well: in 1.0% of 10^5 other states, and one of
// 3% in 0.35%. With 2000 states, more than 38 or 18 misses have a chance of 2e-4.
TEST(SpotCheck, FindsADerivativeThatIsWrongByOnePercentNearlyEverywhere) {
  const auto misses = [](double wrong) {
    Stream states({.seed = 7}, Purpose::test);
    int missed = 0;
    for (std::uint64_t r = 0; r < 2000; ++r) {
      std::vector<double> x(dimension);
      for (double& each : x) each = states.normal();
      missed += look_at(rough_normal(1, 0, wrong), x, 1, r).passed ? 1 : 0;
    }
    return missed;
  };
  EXPECT_LE(misses(0.01), 38);
  EXPECT_LE(misses(0.03), 18);
  EXPECT_EQ(misses(0), 2000) << "a right gradient passes everywhere";
}

// Differences across a jump of the log density, which only one direction meets, say nothing about
// the gradient.
TEST(SpotCheck, LooksAgainBeforeItFails) {
  const FunctionDensity jump(2, [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = -x[0];
    gradient[1] = -x[1];
    const bool on_the_line = x[1] == 0.5 && x[0] != 0.5;
    return -(x[0] * x[0] + x[1] * x[1]) / 2 - (on_the_line ? 0.1 * x[0] : 0);
  });
  const std::vector<double> x = {0.5, 0.5};
  const std::vector<double> steps(2, 1.0);
  Stream stream({.seed = 1}, Purpose::test);
  const SpotCheck check = spot_check(jump, x, steps, 0, 2, stream);
  EXPECT_TRUE(check.passed) << check.where;
  EXPECT_EQ(check.directions, 5U) << "two of them to look again";
}

}  // namespace
}  // namespace rehmc::testing::spot_check_test
