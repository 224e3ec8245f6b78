// A distribution on the line, given by its log density on equidistant points.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/estimate/recycled.hpp"

namespace rehmc::bench {

/// What is known exactly of one coordinate.
struct ExactValues {
  double mean = 0;
  double sd = 0;
  std::array<double, standard_probabilities.size()> quantiles{};
  /// The share of the variance that the values farthest from the mean carry, which together have
  /// probability 0.001: 0.013 for a normal, 0.05 for an exponential distribution.
  double rare_share = 0;
};

/// Moments by the trapezoidal rule, whose error falls faster than any power of the step for smooth
/// densities that vanish at both ends. As accurate is the interpolation of the density by the sinc
/// function, which refines the table; probabilities are integrals of polynomials through that.
class Marginal {
 public:
  /// The points are low, low + step, ... Throws if the density does not vanish at the ends.
  Marginal(double low, double step, const std::vector<double>& log_density);

  double mean() const { return mean_; }
  double sd() const;
  /// P(X <= value).
  double cumulative(double value) const;
  double quantile(double probability) const;
  ExactValues values() const;

 private:
  double density(double value) const;
  /// The integral of (x - mean)^power times the density.
  double integral(double from, double to, int power) const;
  double within_cell(double from, double to, int power) const;
  double rare_share() const;
  void refine();
  double end() const;

  double low_;
  double step_;
  std::vector<double> density_;     ///< at every point
  std::vector<double> cumulative_;  ///< at every point
  double mean_ = 0;
  double variance_ = 0;
};

/// One normal of a mixture.
struct NormalPart {
  double weight = 0;
  double mean = 0;
  double sd = 1;
};

/// Points of the table of a mixture of normals.
inline constexpr std::size_t points_of_mixture = 1200;

Marginal mixture_of_normals(std::span<const NormalPart> parts,
                            std::size_t points = points_of_mixture);

}  // namespace rehmc::bench
