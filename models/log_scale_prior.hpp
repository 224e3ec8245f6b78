// The half-normal prior of a scale that is sampled as its logarithm.
#pragma once

#include <cmath>

namespace rehmc {

/// A log density at a point, and its derivative there.
struct LogScaleTerm {
  double value = 0;
  double slope = 0;
};

/// For s ~ half-normal(0, prior_sd^2) and u = log s: -s^2 / (2 prior_sd^2) + u, up to a constant; u
/// itself is the Jacobian.
inline LogScaleTerm half_normal_log_scale(double u, double prior_sd) {
  const double ratio = std::exp(u) / prior_sd;
  return {u - 0.5 * ratio * ratio, 1 - ratio * ratio};
}

}  // namespace rehmc
