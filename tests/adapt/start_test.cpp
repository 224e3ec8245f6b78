// Starts by a climb: on the scale of the posterior, not in a spike, and with bounded work.
#include "rehmc/adapt/start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/diagonal_normal.hpp"
#include "models/eight_schools.hpp"
#include "models/funnel.hpp"
#include "models/hierarchical_logistic.hpp"
#include "models/linear_regression.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::start_test {
namespace {

using Numbers = std::vector<double>;
using testing::mentions;
using testing::message_of;

FoundStart from(const Density& density, const Numbers& start, std::uint32_t chain = 0) {
  Guard guard(density);
  FoundStart found = find_start(guard, start, {1, chain, 0});
  EXPECT_LE(guard.evaluations(), most_start_gradients(start.size()));
  return found;
}

TEST(Start, IsADrawFromANormalDensityAndItsCovariance) {
  const Numbers sds{0.01, 0.1, 1};
  const Density density = DiagonalNormal(sds);
  constexpr int chains = 400;
  double squares = 0;
  for (std::uint32_t c = 0; c < chains; ++c) {
    const FoundStart found = from(density, {1.5, -0.5, 3}, c);
    ASSERT_NE(found.metric, nullptr);
    for (std::size_t i = 0; i < sds.size(); ++i) {
      const double z = found.position[i] / sds[i];
      squares += z * z;
      EXPECT_NEAR(std::sqrt(found.metric->inverse_diagonal()[i]) / sds[i], 1, 0.5);
    }
  }
  // A chi square with 1200 degrees of freedom over 1200 has an sd of 0.041; 4 of them are passed
  // once in 16,000 times.
  EXPECT_NEAR(squares / (3 * chains), 1, 0.164);
}

TEST(Start, OfAChainIsItsOwnAndAlwaysTheSame) {
  const Density density = CorrelatedNormal(wishart_draw({.dimension = 10}));
  const Numbers start(10, 1.0);
  EXPECT_EQ(from(density, start, 0).position, from(density, start, 0).position);
  EXPECT_NE(from(density, start, 0).position, from(density, start, 1).position);
}

// The density of a funnel grows without bound towards small v, where there is no mass: the start
// stays where it was.
TEST(Start, IsNotInASpikeWithoutMass) {
  const Density density = Funnel();
  for (std::uint32_t c = 0; c < 20; ++c) {
    Numbers start(10, 0.5);
    start[0] = 0.1 * c - 1;
    const FoundStart found = from(density, start, c);
    EXPECT_EQ(found.position, start);
    EXPECT_EQ(found.metric, nullptr);
    EXPECT_GT(found.steps, 5);
  }
}

// In 302 dimensions the spike is so narrow that only one coordinate rises, and not the steepest.
TEST(Start, IsNotInASpikeWithSteepWalls) {
  const Density density = HierarchicalLogistic(with_interactions(simulate_attributes({})));
  for (std::uint32_t c = 0; c < 12; ++c) {
    Stream stream({1, c, 0}, Purpose::test);
    Numbers start(302);
    for (double& x : start) x = 4 * stream.uniform() - 2;
    EXPECT_EQ(from(density, start, c).position, start) << "chain " << c;
  }
}

// A Gumbel density: from -3, the climb comes down a cliff of height 10^39. What it has learned
// there about the curvature says nothing about the top.
TEST(Start, IsNotAtTheFootOfACliff) {
  const Density density(
      FunctionDensity(2, [](std::span<const double> x, std::span<double> gradient) {
        double value = 0;
        for (std::size_t i = 0; i < 2; ++i) {
          const double cliff = std::exp(-30 * x[i]);
          value -= cliff + 30 * x[i];
          gradient[i] = 30 * cliff - 30;
        }
        return value;
      }));
  Guard guard(density);
  Numbers gradient(2);
  for (const double x : {-3.0, -2.0, -1.0, 1.0}) {
    const FoundStart found = from(density, {x, x});
    EXPECT_NE(found.metric, nullptr);
    // Twelve below the top at (0, 0), which a draw of this density passes once in 10,000 times.
    EXPECT_GT(guard(found.position, gradient), -2 - 12);
  }
}

// A Poisson regression on a predictor that is not centred, from starts between -2 and 2: many
// climbs take longer than one leg.
TEST(Start, IsFoundFromAFarTail) {
  const Density density(
      FunctionDensity(3, [](std::span<const double> b, std::span<double> gradient) {
        std::ranges::fill(gradient, 0);
        double value = 0;
        for (int i = 0; i < 50; ++i) {
          const double first = 50 + (i * 7 % 11) - 5;
          const double second = i % 2;
          const double eta = b[0] + b[1] * first + b[2] * second;
          const double left = (i * 5 % 4) - std::exp(eta);
          value += (i * 5 % 4) * eta - std::exp(eta);
          gradient[0] += left;
          gradient[1] += left * first;
          gradient[2] += left * second;
        }
        return value;
      }));
  Stream stream({7, 0, 0}, Purpose::test);
  for (std::uint32_t c = 0; c < 40; ++c) {
    Numbers start(3);
    for (double& x : start) x = 4 * stream.uniform() - 2;
    EXPECT_NE(from(density, start, c).metric, nullptr) << start[0] << ' ' << start[1];
  }
}

Numbers uniform_start(std::size_t dimension, double radius, std::uint32_t chain) {
  Stream stream({8, chain, 0}, Purpose::test);
  Numbers start(dimension);
  for (double& x : start) x = radius * (2 * stream.uniform() - 1);
  return start;
}

// A regression whose scale is sampled as its logarithm: gradients at these points are up to 10^45.
TEST(Start, IsFoundWhereGradientsAreEnormous) {
  const Density density = LinearRegression(simulate_linear_data({.predictors = 6}));
  for (std::uint32_t c = 0; c < 40; ++c) {
    const Numbers start = uniform_start(7, 50, c);
    EXPECT_NE(from(density, start, c).metric, nullptr) << "log sigma " << start.back();
  }
}

// There is no top to be found, but the far tail is left, in which log densities are down to -10^48,
// and the spike is not entered: the start is about 1000 below the end of the climb at most.
TEST(Start, LeavesAFarTailWithoutATop) {
  const Density density = EightSchoolsCentred();
  Guard guard(density);
  Numbers gradient(10);
  for (std::uint32_t c = 0; c < 40; ++c) {
    const FoundStart far = from(density, uniform_start(10, 50, c), c);
    EXPECT_EQ(far.metric, nullptr);
    const double height = guard(far.position, gradient);
    EXPECT_GT(height, -1200) << "chain " << c;
    EXPECT_LT(height, 0) << "chain " << c;
  }
}

struct BadDensity {
  std::string name;
  std::size_t dimension;
  std::function<double(double)> value;
  std::function<double(double)> slope;
};

class StartOfABadDensity : public ::testing::TestWithParam<BadDensity> {};

// from() checks the number of gradients. Wherever the search ends, the density is usable there.
TEST_P(StartOfABadDensity, IsFoundInBoundedGradients) {
  const BadDensity& bad = GetParam();
  const Density density(
      FunctionDensity(bad.dimension, [&](std::span<const double> x, std::span<double> gradient) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          sum += bad.value(x[i]);
          gradient[i] = bad.slope(x[i]);
        }
        return sum;
      }));
  Numbers start(bad.dimension, 0.7);
  const FoundStart found = from(density, start);
  Guard guard(density);
  Numbers gradient(bad.dimension);
  EXPECT_TRUE(std::isfinite(guard(found.position, gradient)));
}

INSTANTIATE_TEST_SUITE_P(
    All, StartOfABadDensity,
    ::testing::Values(
        BadDensity{"improper", 3, [](double x) { return x; }, [](double) { return 1.0; }},
        BadDensity{"constant", 2, [](double) { return 0.0; }, [](double) { return 0.0; }},
        BadDensity{"unbounded", 2, [](double x) { return -std::log(std::abs(x)); },
                   [](double x) { return -1 / x; }},
        BadDensity{"mostly_nan", 2,
                   [](double x) { return std::abs(x - 0.7) < 0.01 ? -x * x : nan_value; },
                   [](double x) { return -2 * x; }},
        BadDensity{"one_dimension", 1, [](double x) { return -0.5 * x * x; },
                   [](double x) { return -x; }},
        BadDensity{"discontinuous", 2, [](double x) { return -0.5 * x * x - (x > 0.5 ? 10 : 0); },
                   [](double x) { return -x; }},
        BadDensity{"enormous_gradient", 2, [](double x) { return -0.5e40 * x * x; },
                   [](double x) { return -1e40 * x; }},
        BadDensity{"wrong_gradient", 2, [](double x) { return -0.5 * x * x; },
                   [](double x) { return x; }},
        BadDensity{"half_line", 2, [](double x) { return x > 0 ? -x : -infinity; },
                   [](double) { return -1.0; }}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace rehmc::start_test
