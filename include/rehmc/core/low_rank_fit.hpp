// Fits a covariance matrix that is diagonal except along a few directions, to states and gradients.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehmc {

/// C = S (I + U (Lambda - I) U') S, exact for a Gaussian whose covariance has this form. The parts
/// are as DiagonalPlusLowRank takes them, but not checked: coordinates that never change give NaN.
struct LowRankFit {
  std::vector<double> scale;       ///< S
  std::vector<double> directions;  ///< U, column by column; empty if C is better diagonal
  std::vector<double> stretch;     ///< Lambda

  /// Least squares of positions on gradients, both centred: the states' numbers for each coordinate
  /// in turn, every state multiplied by the square root of its weight; weights sum to 1. Without
  /// states the scale is not a number.
  static LowRankFit of(std::size_t dimension, std::span<const double> positions,
                       std::span<const double> gradients);
};

}  // namespace rehmc
