// Private to sharpen/: the features of one coordinate, and their tails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stein_run.hpp"

namespace rehmc::stein {

/// The shape of a tail, estimated in two ways that may both be too large.
struct Shape {
  /// From the function itself. Powers of variables with light tails look heavy.
  double direct = 0;
  /// j k(z) + k(u) for z^j u, as if z and u were largest together; or (j - 1) k(z) + k(z u) if that
  /// is less: gradients that fall in the tails cancel growth.
  double bound = 0;

  double least() const { return std::min(direct, bound); }
};

/// The own features of a scalar in one fold.
struct OwnFeatures {
  OwnColumns layout;           ///< of the columns
  Eigen::MatrixXd columns;     ///< per draw the means of the features
  std::vector<Shape> shapes;   ///< of the columns
  Eigen::MatrixXd indicators;  ///< of the thresholds: per draw the share of states below
};

/// The features of powers of one coordinate.
OwnFeatures powers_of(const Run& run, std::size_t fold, Index i, const CoordinateStates& states);

/// Adds the features of thresholds, which are in units of positions.
OwnFeatures with_thresholds(const Run& run, std::size_t fold, Index i,
                            const CoordinateStates& states, const OwnFeatures& powers,
                            const std::vector<double>& thresholds);

}  // namespace rehmc::stein
