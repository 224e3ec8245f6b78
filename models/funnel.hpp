// Neal's funnel: one coordinate sets the scale of all others.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// v ~ N(0, 3^2), then x_i | v ~ N(0, exp(v)), exp(v) being the variance (Neal 2003, Slice
/// sampling, section 8, has nine x).
class Funnel {
 public:
  /// The dimension counts v. ConfigError below 2.
  explicit Funnel(std::size_t dimension = 10);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return dimension_; }
  std::vector<std::string> names() const;  ///< v, x.1, x.2, ...

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const;
  double mean(std::size_t /*coordinate*/) const { return 0; }
  double variance(std::size_t coordinate) const;
  /// P(x_i <= value); for i > 0 by numerical integration over v.
  double cumulative(std::size_t coordinate, double value) const;

 private:
  std::size_t dimension_;
};

}  // namespace rehmc
