// Stochastic volatility against its definition, with tau integrated out numerically.
#include "models/stochastic_volatility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/quadrature.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::testing::stochastic_volatility_test {
namespace {

/// The model as it is stated, in x = log s, with tau still in it.
double log_joint(std::span<const double> x, std::span<const double> returns, double tau) {
  double sum = x[0] - 10 * std::exp(x[0]);  // exponential with mean 1/10, and its Jacobian
  sum += -0.5 * std::log(tau) - 0.5 * tau;  // gamma(1/2, 1/2)
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double step = 100 * (x[i] - x[i - 1]);
    sum += 0.5 * std::log(tau) - 0.5 * tau * step * step;
    const double z = returns[i - 1] / std::exp(x[i]);
    sum += -x[i] - 0.5 * z * z;
  }
  return sum;
}

TEST(StochasticVolatility, IsItsDefinitionWithTauIntegratedOut) {
  const std::vector<double> returns{0.9, -1.3, 0.4, 2.2};
  const StochasticVolatility model(returns);
  EXPECT_EQ(model.dimension(), 5U);
  EXPECT_EQ(model.names().back(), "log_s.5");
  std::vector<double> gradient(5);
  double constant = 0;
  for (std::uint64_t k = 0; k < 10; ++k) {
    Stream stream({.seed = 6, .iteration = k}, Purpose::test);
    // Steps from 0.003 to 0.3: the 1 in 1 + S matters for some and not for others.
    std::vector<double> x{0.3 * stream.normal()};
    const double scale = 0.003 * std::pow(10, 2 * stream.uniform());
    for (int i = 0; i < 4; ++i) x.push_back(x.back() + scale * stream.normal());
    // In log tau, whose Jacobian is tau; relative to the largest value, so that it does not
    // underflow.
    double top = -1e300;
    for (double u = -30; u < 10; u += 0.01) {
      top = std::max(top, log_joint(x, returns, std::exp(u)) + u);
    }
    const auto integrand = [&](double u) {
      return std::exp(log_joint(x, returns, std::exp(u)) + u - top);
    };
    const double expected = top + std::log(integrate(integrand, -30, 10, 4000));
    const double offset = model(x, gradient) - expected;
    if (k == 0) constant = offset;
    EXPECT_NEAR(offset, constant, 1e-9) << k;
  }
}

TEST(StochasticVolatility, ReturnsAreLogarithmsOfRatios) {
  const std::vector<double> returns = returns_of_closes(std::vector{100.0, 110.0, 99.0});
  ASSERT_EQ(returns.size(), 2U);
  EXPECT_NEAR(returns[0], std::log(1.1), 1e-15);
  EXPECT_NEAR(returns[1], std::log(0.9), 1e-15);
}

// log |r| = log 0.01 + level + log |z|. The level has standard deviation 0.5 and is correlated over
// some 100 days: the mean over 100000 days is known to 0.017, and E log |z| = -0.635. Five errors.
TEST(StochasticVolatility, SimulatedReturnsAreOfAnIndex) {
  const std::vector<double> returns = simulate_returns({.days = 100001, .seed = 2});
  ASSERT_EQ(returns.size(), 100000U);
  double sum = 0;
  for (const double entry : returns) sum += std::log(std::abs(entry) / 0.01) / 100000;
  EXPECT_NEAR(sum, -0.635, 0.085);
  EXPECT_EQ(simulate_returns({}).size(), 2999U);
}

}  // namespace
}  // namespace rehmc::testing::stochastic_volatility_test
