// A Gaussian process seen at ten points: length scale, amplitude and noise.
#pragma once

#include <cstddef>
#include <span>

#include "exact_target.hpp"

namespace rehmc::bench {

/// y ~ N(0, amplitude^2 K + noise^2 I), K_ij = exp(-((x_i - x_j) / length)^2 / 2),
/// log length ~ N(-1, 1), log amplitude ~ N(0, 1), log noise ~ N(-1, 1): the coordinates. The data
/// were simulated with length 0.25, amplitude 1 and noise 0.3.
class GaussianProcess {
 public:
  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return 3; }
};

ExactTarget gaussian_process(double fineness);

}  // namespace rehmc::bench
