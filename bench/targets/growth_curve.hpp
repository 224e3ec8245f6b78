// A growth curve that levels off: y = a - b lambda^x, with hardly enough data to tell lambda.
#pragma once

#include <cstddef>
#include <span>

#include "exact_target.hpp"

namespace rehmc::bench {

/// y_i ~ N(a - b lambda^x_i, sigma^2), a ~ N(2.5, 2), b ~ N(1, 2), log sigma ~ N(-2, 1),
/// lambda = 0.5 + 0.48 / (1 + exp(-u)) with (lambda - 0.5) / 0.48 ~ Beta(2, 2). Coordinates: a, b,
/// u, log sigma. The data were simulated with a = 2.6, b = 1, lambda = 0.86, sigma = 0.1.
class GrowthCurve {
 public:
  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return 4; }
};

ExactTarget growth_curve(double fineness);

}  // namespace rehmc::bench
