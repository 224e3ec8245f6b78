// Linear regression with correlated predictors, whose posterior is known in closed form.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "exact_target.hpp"

namespace rehmc::bench {

/// 46 observations, an intercept and 8 predictors; neighbours have correlation 0.7. Flat priors on
/// the coefficients and on log sigma. Coordinates: intercept, beta_1, ..., beta_8, log sigma.
class CorrelatedRegression {
 public:
  static constexpr std::size_t observations = 46;
  static constexpr std::size_t coefficients = 9;
  struct Sums;  ///< what the likelihood needs of the data

  CorrelatedRegression();

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return coefficients + 1; }

  const Sums& sums() const { return *sums_; }

 private:
  std::shared_ptr<const Sums> sums_;
};

ExactTarget correlated_regression(double fineness);

}  // namespace rehmc::bench
