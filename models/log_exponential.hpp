// The skewed target: logarithms of exponential variables.
#pragma once

#include <cstddef>
#include <span>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// Independent coordinates with log density y - exp(y): the logarithm of an exponential(1)
/// variable. Skewed, with a light and a heavy tail, so that symmetry cannot hide sign errors.
class LogExponential {
 public:
  /// ConfigError for dimension 0.
  explicit LogExponential(std::size_t dimension);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return dimension_; }

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const;
  double mean(std::size_t coordinate) const;
  double variance(std::size_t coordinate) const;
  /// P(x_i <= value).
  double cumulative(std::size_t coordinate, double value) const;
  /// The value with P(x_i <= value) = probability.
  double quantile(std::size_t coordinate, double probability) const;

 private:
  std::size_t dimension_;
};

}  // namespace rehmc
