// The spot check of a gradient: how small an error it finds, which coordinates it checks.
#include "rehmc/model/spot_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace rehmc::testing {
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
      EXPECT_EQ(check.where, "x." + std::to_string(coordinate + 1));
      EXPECT_EQ(check.directions, coordinate + 1) << "stops at the first that fails";
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
  EXPECT_EQ(look(0, 2e-4, 4, 2).where, "x.1");
  EXPECT_EQ(look(4, 2e-4, 4, 2).where, "x.5");
  // A coordinate that was not checked shows only along the random direction.
  EXPECT_EQ(look(2, 2e-4, 4, 2).where, "a random direction");
  EXPECT_EQ(look(2, 0, 4, 2).directions, 3U);
}

}  // namespace
}  // namespace rehmc::testing
