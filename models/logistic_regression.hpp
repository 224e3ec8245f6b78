// Bayesian logistic regression on given data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/aligned_vector.hpp"

namespace rehmc {

/// One row of predictors per observation; a column of ones for an intercept is the caller's to add.
struct LogisticData {
  std::size_t observations = 0;
  std::size_t predictors = 0;
  std::vector<double> x;  ///< row by row: observations * predictors numbers
  std::vector<int> y;     ///< 0 or 1
};

/// y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, prior_sd^2).
class LogisticRegression {
 public:
  /// DataError for sizes that do not fit, predictors that are not finite, or y other than 0 and 1;
  /// ConfigError for a prior_sd that is not positive and finite.
  explicit LogisticRegression(const LogisticData& data, double prior_sd = 1);

  double operator()(std::span<const double> x, std::span<double> gradient);
  std::size_t dimension() const { return dimension_; }
  std::vector<std::string> names() const;  ///< beta.1, ...

 private:
  std::size_t dimension_;
  std::size_t tiles_;
  double padding_;  ///< rows of zeros that fill the last tile
  double prior_precision_;
  /// x_i (2 y_i - 1), in tiles of rows, each tile column by column.
  std::shared_ptr<const AlignedVector> signed_rows_;
  AlignedVector sums_;  ///< scratch: partial sums of the gradient
};

/// Which data set to simulate.
struct LogisticSimulation {
  std::size_t observations = 1000;
  std::size_t predictors = 25;
  std::uint64_t seed = 1;
};

/// An intercept and standard normal predictors; beta_j ~ N(0, 1/predictors), so that the linear
/// predictor has variance about 1. ConfigError for no observations or predictors.
LogisticData simulate_logistic_data(const LogisticSimulation& simulation);

}  // namespace rehmc
