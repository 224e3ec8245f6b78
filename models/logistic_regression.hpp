// Bayesian logistic regression on given data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/logistic_likelihood.hpp"

namespace rehmc {

/// y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, prior_sd^2).
class LogisticRegression {
 public:
  /// DataError for inconsistent sizes, predictors that are not finite, or y other than 0 and 1;
  /// ConfigError for a prior_sd that is not positive and finite.
  explicit LogisticRegression(const LogisticData& data, double prior_sd = 1);

  double operator()(std::span<const double> x, std::span<double> gradient);
  void evaluate_batch(const Batch& batch);
  std::size_t dimension() const { return likelihood_.predictors(); }
  std::vector<std::string> names() const;  ///< beta.1, ...

 private:
  /// The log density of the prior; writes its gradient.
  double prior(std::span<const double> x, std::span<double> gradient) const;

  LogisticLikelihood likelihood_;
  double prior_precision_;
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
