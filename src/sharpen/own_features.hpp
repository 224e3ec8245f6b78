// Private to sharpen/: the features of one coordinate, and their tails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stein_run.hpp"

namespace rehmc::stein {

/// The shape of a tail, estimated in two ways that may overrate it.
struct Shape {
  /// From the function itself. Powers of light tails look heavy.
  double direct = 0;
  /// j k(z) + k(u) for z^j u, as if the tails of z and u went together; or (j - 1) k(z) + k(z u),
  /// where that is less: gradients that fall in the tails cancel growth.
  double bound = 0;

  double least() const { return std::min(direct, bound); }
};

/// The own features of a scalar in one fold.
struct OwnFeatures {
  Eigen::MatrixXd columns;     ///< of every coordinate: of powers, then of thresholds
  std::vector<Shape> shapes;   ///< of the columns
  Eigen::MatrixXd indicators;  ///< of the thresholds: per draw the share of states below
};

/// The features of powers of a coordinate.
OwnFeatures powers_of(const Run& run, std::size_t fold, Index i, const CoordinateStates& states);

/// Those of thresholds (in units of positions) beside them.
OwnFeatures with_thresholds(const Run& run, std::size_t fold, Index i,
                            const CoordinateStates& states, const OwnFeatures& powers,
                            const std::vector<double>& thresholds);

}  // namespace rehmc::stein
