// Generalised Pareto laws: how heavy a tail is.
#pragma once

#include <cstddef>
#include <span>

namespace rehmc {

/// A generalised Pareto law of excesses over a threshold.
struct ParetoFit {
  double shape = 0;  ///< moments of order 1 / shape and above do not exist
  double scale = 0;
};

/// The estimate of Zhang & Stephens (2009), on a grid of at least `fewest_points`. At least five
/// excesses, in rising order and not negative, the lower quartile above 0.
ParetoFit fit_pareto(std::span<const double> excesses, std::size_t fewest_points);

/// The shape k of a generalised Pareto law fitted to the largest values: moments of order 1/k and
/// above do not exist. -inf where the tail has no spread, NaN for too few values.
double tail_shape(std::span<const double> values);

}  // namespace rehmc
