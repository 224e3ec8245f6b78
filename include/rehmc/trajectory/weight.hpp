// Weights of the states of a trajectory, kept as plain numbers with a common scale.
#pragma once

#include <algorithm>
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

/// The common scale of the weights of one part of a trajectory, so that they can be kept and summed
/// as plain numbers, in units of exp(scale). It only ever grows.
class WeightScale {
 public:
  /// The weight in these units. If it needs a larger scale, first calls `rescale(factor)`, which
  /// must multiply all numbers in the old units.
  template <class Rescale>
  double in_units(const Weight& weight, Rescale&& rescale) {
    if (weight.log_scale == log_scale_) return weight.value;
    if (weight.log_scale > log_scale_) {
      rescale(std::exp(log_scale_ - weight.log_scale));
      log_scale_ = weight.log_scale;
      return weight.value;
    }
    return weight.value * std::exp(weight.log_scale - log_scale_);
  }

  /// What to multiply the numbers of two parts by before they are added.
  struct Factors {
    double ours;
    double theirs;
  };
  /// Takes over the larger of the two scales.
  Factors merge(const WeightScale& other) {
    const double larger = std::max(log_scale_, other.log_scale_);
    const Factors factors{std::exp(log_scale_ - larger), std::exp(other.log_scale_ - larger)};
    log_scale_ = larger;
    return factors;
  }

 private:
  double log_scale_ = 0;
};

/// Whether a state of energy error H - H0 lies on the slice and so is acceptable, eq. (4.1) of
/// Nishimura & Dunson (2020), as in Hoffman & Gelman (2014), section 3.1.1:
/// u <= exp(-H) with u = exp(-H0) * uniform, that is log(uniform) <= H0 - H.
inline Weight slice_weight(double energy_error, double log_uniform) {
  return {log_uniform <= -energy_error ? 1.0 : 0.0, 0.0};
}

/// Weight of a state of energy error H - H0 in a multinomial trajectory: exp(H0 - H).
inline Weight multinomial_weight(double energy_error) { return weight_from_log(-energy_error); }

// Rules of weighting the leaves of a tree. Where the dynamics does not preserve volume, the energy
// error includes minus the log Jacobian, so that exp(-energy error) = pi(z) |dz/dz_0| / pi(z_0).

/// A leaf weighs exp(H0 - H); it diverges when its energy error exceeds the limit.
struct MultinomialWeights {
  double max_energy_error;

  Weight weight(double energy_error) const { return multinomial_weight(energy_error); }
  bool diverges(double energy_error) const { return !(energy_error <= max_energy_error); }
  /// min(1, exp(H0 - H)), from the leaf's weight.
  static double acceptance(const Weight& weight, double) {
    return weight.log_scale > 0 ? 1.0 : std::min(1.0, weight.value);
  }
};

/// A leaf weighs 1 if it lies on the slice, else 0: Fact 1 of Nishimura & Dunson (2020). It
/// diverges when it lies too far below the slice (Hoffman & Gelman 2014, Algorithm 3: log u -
/// Delta_max against the log density of the leaf).
struct SliceWeights {
  double max_energy_error;
  double log_uniform;  ///< log u + H0

  Weight weight(double energy_error) const { return slice_weight(energy_error, log_uniform); }
  bool diverges(double energy_error) const {
    return !(-energy_error > log_uniform - max_energy_error);
  }
  static double acceptance(const Weight&, double energy_error) {
    return std::min(1.0, std::exp(-energy_error));
  }
};

}  // namespace rehmc
