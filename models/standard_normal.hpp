// The standard normal in d dimensions.
#pragma once

#include <cstddef>
#include <span>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// Independent standard normal coordinates.
class StandardNormal {
 public:
  /// ConfigError for dimension 0.
  explicit StandardNormal(std::size_t dimension);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return dimension_; }

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const { stream.fill_normal(x); }
  double mean(std::size_t /*coordinate*/) const { return 0; }
  double variance(std::size_t /*coordinate*/) const { return 1; }
  /// P(x_i <= value).
  double cumulative(std::size_t coordinate, double value) const;

 private:
  std::size_t dimension_;
};

}  // namespace rehmc
