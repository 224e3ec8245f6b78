// Bayesian linear regression with unknown error scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/quantity.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

/// One row of predictors per observation; add a column of ones for an intercept.
struct LinearData {
  std::size_t observations = 0;
  std::size_t predictors = 0;
  std::vector<double> x;  ///< row by row: observations * predictors numbers
  std::vector<double> y;
};

struct LinearPriors {
  double beta_sd = 10;
  double sigma_sd = 10;
};

/// y_i ~ N(x_i' beta, sigma^2), beta_j ~ N(0, beta_sd^2), sigma ~ half-normal(0, sigma_sd^2),
/// sampled as (beta, log sigma).
///
/// The data enter only through the sum of squared residuals. With (X y) = Q (R z), where Q has
/// orthonormal columns, |y - X beta| = |z - R beta|: a regression with min(n, p + 1) rows. A
/// gradient therefore costs the same for any number of observations.
class LinearRegression {
 public:
  /// DataError for inconsistent sizes or numbers that are not finite; ConfigError for priors that
  /// are not positive and finite.
  explicit LinearRegression(const LinearData& data, const LinearPriors& priors = {});

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const;
  std::vector<std::string> names() const;  ///< beta.1, ..., log_sigma

  std::vector<Quantity> quantities() const;  ///< beta.1, ..., sigma
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const;

 private:
  struct Rows;
  std::shared_ptr<const Rows> rows_;
};

/// Which data set to simulate.
struct LinearSimulation {
  std::size_t observations = 50;
  std::size_t predictors = 8;
  double correlation = 0.5;  ///< of neighbouring predictors; those k apart have its k-th power
  std::uint64_t seed = 1;
};

/// Standard normal predictors, beta_j ~ N(0, 1), and errors with standard deviation 2. ConfigError
/// for no observations or predictors, or a correlation outside (-1, 1).
LinearData simulate_linear_data(const LinearSimulation& simulation);

}  // namespace rehmc
