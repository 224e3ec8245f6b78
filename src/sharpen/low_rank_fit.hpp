// Private to sharpen/: a covariance matrix that is diagonal except along a few directions.
#pragma once

#include <Eigen/Core>

namespace rehmc {

/// C = S (I + U (Lambda - I) U') S, exact for a Gaussian whose covariance has this form.
struct LowRankFit {
  Eigen::VectorXd scale;       ///< S
  Eigen::MatrixXd directions;  ///< U, with orthonormal columns; none if C is better diagonal
  Eigen::VectorXd stretch;     ///< Lambda
  /// Least squares of positions on gradients, both centred, with every row multiplied by the square
  /// root of its weight; weights sum to 1.
  static LowRankFit of(const Eigen::MatrixXd& positions, const Eigen::MatrixXd& gradients);
};

}  // namespace rehmc
