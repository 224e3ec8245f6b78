// The log densities against their definitions, and the stated moments against numerical integrals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "models/normal_distribution.hpp"
#include "rehmc/core/numerics.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::densities_test {
namespace {

double value_at(Density density, std::span<const double> x) {
  std::vector<double> gradient(x.size());
  return density(x, gradient);
}

TEST(Densities, AreNamed) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(Density(StandardNormal(2)).names(), (Names{"x.1", "x.2"}));
  EXPECT_EQ(Density(Funnel(3)).names(), (Names{"v", "x.1", "x.2"}));
  EXPECT_EQ(Density(EightSchoolsCentred()).names()[1], "log_tau");
  EXPECT_EQ(Density(EightSchoolsCentred()).names()[2], "theta.1");
  EXPECT_EQ(Density(EightSchoolsNonCentred()).names()[9], "theta_trans.8");
  for (const auto& [name, density] : all_targets()) {
    EXPECT_EQ(density.names().size(), density.dimension()) << name;
  }
}

// The whole plane on a grid: for smooth functions that vanish at the edges, the sum over the grid
// converges faster than any power of its spacing.
TEST(Densities, BananaMomentsMatchAnIntegralOverThePlane) {
  for (const double y : {1.0, -3.0, 4.0}) {
    const Banana banana(y);
    double mass = 0;
    std::array<double, 2> first{};
    std::array<double, 2> second{};
    double below = 0;
    const double threshold = -0.8125;  // between two columns of the grid
    const double spacing = 0.025;
    std::array<double, 2> gradient{};
    for (int i = -400; i <= 400; ++i) {
      for (int j = -200; j <= 200; ++j) {
        const std::array<double, 2> x{i * spacing, j * spacing};
        const double weight = std::exp(banana(x, gradient));
        mass += weight;
        for (std::size_t k = 0; k < 2; ++k) {
          first[k] += weight * x[k];
          second[k] += weight * x[k] * x[k];
        }
        if (x[1] < threshold) below += weight;
      }
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const double mean = first[k] / mass;
      EXPECT_NEAR(banana.mean(k), mean, 1e-10) << y;
      EXPECT_NEAR(banana.variance(k), second[k] / mass - mean * mean, 1e-10) << y;
    }
    // The midpoint rule of this spacing, for a function that does not vanish at the threshold.
    EXPECT_NEAR(banana.cumulative(1, threshold), below / mass, 1e-4) << y;
  }
}

TEST(Densities, CumulativeProbabilitiesMatchKnownOnes) {
  EXPECT_NEAR(StandardNormal(1).cumulative(0, 1.959963984540054), 0.975, 1e-15);
  const std::vector<double> scales{0.5, 2};
  EXPECT_NEAR(DiagonalNormal(scales).cumulative(1, -2), 0.15865525393145707, 1e-15);
  EXPECT_NEAR(StudentT(1, 1).cumulative(0, -3), 0.5 - std::atan(3.0) / std::numbers::pi, 1e-12);
  EXPECT_NEAR(StudentT(1, 2).cumulative(0, 4), 0.5 + 4 / (2 * std::sqrt(18.0)), 1e-12);
  EXPECT_NEAR(StudentT(1, 5).cumulative(0, 2.570581835636314), 0.975, 1e-10);
  EXPECT_NEAR(Funnel(2).cumulative(0, 3), normal_cumulative(1), 1e-15);
  EXPECT_NEAR(Funnel(2).cumulative(1, 0), 0.5, 1e-12);
  const LogExponential skewed(1);
  EXPECT_NEAR(skewed.cumulative(0, skewed.quantile(0, 0.3)), 0.3, 1e-14);
  for (const double far : {-60.0, 60.0}) {
    const double limit = far < 0 ? 0 : 1;
    EXPECT_NEAR(Banana().cumulative(0, far), limit, 1e-12);
    EXPECT_NEAR(Banana().cumulative(1, far), limit, 1e-12);
    EXPECT_NEAR(skewed.cumulative(0, far), limit, 1e-12);
  }
}

TEST(Densities, MomentsThatDoNotExistAreNaNOrInfinite) {
  EXPECT_TRUE(std::isnan(StudentT(1, 1).mean(0)));
  EXPECT_TRUE(std::isnan(StudentT(1, 1).variance(0)));
  EXPECT_EQ(StudentT(1, 2).variance(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(StudentT(1, 4).variance(0), 2);
}

double normal_log_density(double x, double mean, double sd) {
  const double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd);
}

TEST(Densities, BananaIsItsDefinition) {
  const auto definition = [](double x1, double x2) {
    return normal_log_density(x1, 0, 1) + normal_log_density(x2, 0, 1) +
           normal_log_density(1.5, x1 + x2 * x2, 0.4);
  };
  const Banana banana(1.5);
  EXPECT_NEAR(value_at(banana, std::vector{-0.75, -1.25}) - value_at(banana, std::vector{0.5, 2.0}),
              definition(-0.75, -1.25) - definition(0.5, 2), 1e-12);
}

TEST(Densities, FunnelIsItsDefinition) {
  const std::vector<double> x{-1.7, 0.3, -0.9};
  double expected = normal_log_density(x[0], 0, 3) - normal_log_density(0, 0, 3);
  for (std::size_t i = 1; i < 3; ++i) expected += normal_log_density(x[i], 0, std::exp(x[0] / 2));
  EXPECT_NEAR(value_at(Funnel(3), x), expected, 1e-12);
}

TEST(Densities, StudentTIsItsDefinition) {
  const std::vector<double> x{-1.7, 1e-9, 1e9};
  double expected = 0;
  for (const double entry : x) expected += -3 * std::log1p(entry * entry / 5);
  EXPECT_NEAR(value_at(StudentT(3, 5), x), expected, 1e-12);
}

TEST(Densities, CorrelatedNormalInvertsItsCovariance) {
  // Inverse of {{2, 0.6}, {0.6, 1}} is {{1, -0.6}, {-0.6, 2}} / 1.64.
  const CorrelatedNormal normal(std::vector<double>{2, 0.6, 0.6, 1});
  const std::vector<double> x{0.7, -1.1};
  EXPECT_NEAR(value_at(normal, x), -0.5 * (0.49 + 2 * 0.6 * 0.77 + 2 * 1.21) / 1.64, 1e-14);
  EXPECT_EQ(normal.covariance()[1], 0.6);
}

/// Eight schools written as in the model's definition, with nothing simplified.
double eight_schools(double mu, double tau, std::span<const double> theta) {
  double sum = normal_log_density(mu, 0, 5) - std::log1p(std::pow(tau / 5, 2));
  for (std::size_t j = 0; j < theta.size(); ++j) {
    sum += normal_log_density(theta[j], mu, tau) +
           normal_log_density(EightSchoolsData::effects[j], theta[j],
                              EightSchoolsData::standard_errors[j]);
  }
  return sum;
}

// Both parametrisations are the definition plus the logarithm of their Jacobian: tau for log tau,
// and tau^8 for theta_trans.
TEST(Densities, EightSchoolsIsItsDefinitionInBothParametrisations) {
  double centred_constant = 0;
  double other_constant = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    Stream stream({.seed = 5, .iteration = k}, Purpose::test);
    std::vector<double> x(10);
    stream.fill_normal(x);
    const double tau = std::exp(x[1]);
    std::vector<double> theta;
    for (std::size_t j = 0; j < 8; ++j) {
      theta.push_back(EightSchoolsNonCentred::theta(x, j));
      EXPECT_EQ(theta[j], x[0] + tau * x[2 + j]);
    }
    std::vector<double> centred{x[0], x[1]};
    centred.insert(centred.end(), theta.begin(), theta.end());
    EXPECT_EQ(EightSchoolsCentred::tau(centred), tau);
    const double definition = eight_schools(x[0], tau, theta) + x[1];
    const double centred_offset = value_at(EightSchoolsCentred(), centred) - definition;
    const double other_offset = value_at(EightSchoolsNonCentred(), x) - (definition + 8 * x[1]);
    if (k == 0) {
      centred_constant = centred_offset;
      other_constant = other_offset;
    }
    EXPECT_NEAR(centred_offset, centred_constant, 1e-11);
    EXPECT_NEAR(other_offset, other_constant, 1e-11);
  }
}

TEST(Densities, EightSchoolsAreReportedOnTheScaleOfTauAndTheta) {
  const SchoolsData two{.effects = {1, -2}, .standard_errors = {3, 0.5}};
  const std::vector<double> x{0.3, 0.4, 1.1, -0.6};
  const double tau = std::exp(0.4);
  const auto read = [&](Density density) {
    std::vector<double> values(density.quantities().size());
    density.evaluate_quantities(x, values, nullptr);
    return values;
  };
  const auto names = [](const Density& density) {
    std::vector<std::string> result;
    for (const Quantity& quantity : density.quantities()) {
      EXPECT_EQ(quantity.coordinate.value_or(99), result.size() < 4 ? result.size() : 99);
      result.push_back(quantity.name);
    }
    return result;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(EightSchoolsCentred(two)), (Names{"mu", "tau", "theta.1", "theta.2"}));
  const std::vector<double> centred = read(EightSchoolsCentred(two));
  ASSERT_EQ(centred.size(), 4U);
  EXPECT_DOUBLE_EQ(centred[1], tau);
  EXPECT_EQ(centred[3], -0.6);
  EXPECT_EQ(names(EightSchoolsNonCentred(two)),
            (Names{"mu", "tau", "theta_trans.1", "theta_trans.2", "theta.1", "theta.2"}));
  const std::vector<double> values = read(EightSchoolsNonCentred(two));
  const std::vector<double> expected{0.3, tau, 1.1, -0.6, 0.3 + tau * 1.1, 0.3 + tau * -0.6};
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(values[i], expected[i]) << i;
}

TEST(Densities, EightSchoolsStaysFiniteForHugeAndTinyTau) {
  std::vector<double> x(10, 0.5);
  std::vector<double> gradient(10);
  for (const double log_tau : {-300.0, 300.0}) {
    x[1] = log_tau;
    EXPECT_TRUE(std::isfinite(EightSchoolsCentred()(x, gradient))) << log_tau;
    EXPECT_TRUE(std::isfinite(gradient[1])) << log_tau;
  }
}

// Sizes around the tile of 32 rows, and predictors on both sides of a vector register.
TEST(Densities, LogisticRegressionIsItsDefinition) {
  for (const std::size_t observations : {1UL, 31UL, 32UL, 33UL, 100UL, 1000UL}) {
    for (const std::size_t predictors : {1UL, 2UL, 8UL, 25UL}) {
      const LogisticData data =
          simulate_logistic_data({.observations = observations, .predictors = predictors});
      std::vector<double> beta(predictors);
      Stream({.seed = 8}, Purpose::test).fill_normal(beta);
      for (double& entry : beta) entry *= 3;  // some linear predictors are far from zero
      const double prior_sd = 2.5;
      long double expected = 0;
      std::vector<long double> slopes(predictors);
      for (std::size_t j = 0; j < predictors; ++j) {
        expected -= 0.5L * beta[j] * beta[j] / (prior_sd * prior_sd);
        slopes[j] = -beta[j] / (static_cast<long double>(prior_sd) * prior_sd);
      }
      for (std::size_t i = 0; i < observations; ++i) {
        const double* row = data.x.data() + i * predictors;
        long double linear = 0;
        for (std::size_t j = 0; j < predictors; ++j) {
          linear += static_cast<long double>(row[j]) * beta[j];
        }
        const long double probability = 1 / (1 + std::exp(-linear));
        expected += std::log(data.y[i] == 1 ? probability : 1 / (1 + std::exp(linear)));
        for (std::size_t j = 0; j < predictors; ++j) {
          slopes[j] += row[j] * (data.y[i] - probability);
        }
      }
      LogisticRegression regression(data, prior_sd);
      std::vector<double> gradient(predictors);
      const double value = regression(beta, gradient);
      const auto scale = static_cast<double>(observations);
      EXPECT_NEAR(value, static_cast<double>(expected), 1e-13 * scale);
      for (std::size_t j = 0; j < predictors; ++j) {
        EXPECT_NEAR(gradient[j], static_cast<double>(slopes[j]), 1e-13 * scale);
      }
    }
  }
}

// At beta = 0 every factor of the products of 1 + exp(-|m|) is 2: 1024 of them would overflow.
TEST(Densities, LogisticRegressionDoesNotOverflowOnManyRows) {
  const std::size_t rows = 40000;
  const LogisticRegression regression({.observations = rows,
                                       .predictors = 1,
                                       .x = std::vector<double>(rows, 1.0),
                                       .y = std::vector<int>(rows, 1)});
  EXPECT_NEAR(value_at(regression, std::vector<double>{0}), -std::numbers::ln2 * rows, 1e-8);
}

TEST(Densities, LogisticRegressionReturnsInfinityWhereItIsInfinite) {
  const LogisticRegression regression({.observations = 1, .predictors = 1, .x = {1}, .y = {0}});
  EXPECT_EQ(value_at(regression, std::vector<double>{1e300}), -infinity);
  EXPECT_TRUE(std::isnan(value_at(regression, std::vector<double>{std::nan("")})));
}

TEST(Densities, CopiesAreIndependent) {
  for (const auto& [name, density] : all_targets()) {
    Density first = density;
    Density second = first;
    std::vector<double> x(density.dimension(), 0.3);
    std::vector<double> other(density.dimension(), -0.8);
    std::vector<double> gradient(density.dimension());
    std::vector<double> again(density.dimension());
    const double value = first(x, gradient);
    second(other, again);
    EXPECT_EQ(first(x, again), value) << name;
    EXPECT_EQ(again, gradient) << name;
  }
}

// Entries of W have mean delta_ij, variance (1 + delta_ij) / degrees of freedom. Six comparisons at
// |z| < 5: a false-alarm rate of 4e-6.
TEST(Wishart, HasMeanIdentity) {
  const std::size_t dimension = 3;
  const std::size_t freedom = 5;
  const int repetitions = 2000;
  std::vector<double> sums(9);
  for (int k = 0; k < repetitions; ++k) {
    const auto matrix = wishart_draw({.dimension = dimension,
                                      .degrees_of_freedom = freedom,
                                      .seed = static_cast<std::uint64_t>(k)});
    for (std::size_t i = 0; i < 9; ++i) sums[i] += matrix[i];
    EXPECT_EQ(matrix[1], matrix[3]);
  }
  for (std::size_t i = 0; i < dimension; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double truth = i == j ? 1 : 0;
      const double error = std::sqrt((1 + truth) / freedom / repetitions);
      EXPECT_LT(std::abs(sums[3 * i + j] / repetitions - truth) / error, 5);
    }
  }
}

TEST(Wishart, EigenvaluesBelongToTheDraw) {
  const WishartSettings settings{.dimension = 40, .degrees_of_freedom = 40, .seed = 2};
  const auto matrix = wishart_draw(settings);
  const auto eigenvalues = wishart_eigenvalues(settings);
  double trace = 0;
  double squares = 0;
  for (std::size_t i = 0; i < 40; ++i) trace += matrix[41 * i];
  for (const double entry : matrix) squares += entry * entry;
  for (const double value : eigenvalues) {
    trace -= value;
    squares -= value * value;
  }
  EXPECT_NEAR(trace, 0, 1e-11);
  EXPECT_NEAR(squares, 0, 1e-10);
  EXPECT_GT(eigenvalues.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(eigenvalues));
}

}  // namespace
}  // namespace rehmc::testing::densities_test
