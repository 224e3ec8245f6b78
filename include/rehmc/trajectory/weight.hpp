// Weights of the leaves of a trajectory, kept as plain numbers with a common scale.
#pragma once

#include <cmath>

namespace rehmc {

/// The positive number value * exp(log_scale). Weights are relative to the start of the trajectory,
/// so the scale is zero except after a huge fall in energy, where a plain number would overflow.
struct Weight {
  double value = 0;
  double log_scale = 0;
};

/// Beyond this logarithm a weight gets a scale of its own; far below overflow, so that sums of
/// thousands of weights times squared coordinates stay finite.
inline constexpr double log_weight_limit = 300;

inline Weight weight_from_log(double log_weight) {
  if (log_weight > log_weight_limit) return {1.0, log_weight};
  return {std::exp(log_weight), 0.0};
}

/// Whether a state of energy error H - H0 lies on the slice (Hoffman & Gelman 2014, section 3.1.1):
/// u <= exp(-H) with u = exp(-H0) * uniform, that is log(uniform) <= H0 - H.
inline Weight slice_weight(double energy_error, double log_uniform) {
  return {log_uniform <= -energy_error ? 1.0 : 0.0, 0.0};
}

/// Weight of a state of energy error H - H0 in a multinomial trajectory: exp(H0 - H).
inline Weight multinomial_weight(double energy_error) { return weight_from_log(-energy_error); }

}  // namespace rehmc
