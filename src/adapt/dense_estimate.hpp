// Private to adapt/: what the estimators of dense metrics share: units, and the finished metric.
#pragma once

#include <optional>

#include "metric_estimator.hpp"

namespace rehmc {

/// Of the mean of the diagonals: small enough for condition numbers of 1e8.
inline constexpr double least_ridge = 1e-10;

/// Second moments in units in which every coordinate varies as much as its gradient: there, scales
/// of the model do not affect the decompositions, and a ridge means the same everywhere.
struct UnitMoments {
  Eigen::VectorXd unit;  ///< of each coordinate
  Eigen::MatrixXd xx;
  Eigen::MatrixXd gg;
  Eigen::MatrixXd gx;

  /// Nothing if there are too few states for a matrix, or if a coordinate never changed.
  static std::optional<UnitMoments> of(const CentredStates& states, double ridge = least_ridge);

  /// The metric with this M^{-1}, given in these units; nullptr if it is not positive definite.
  std::shared_ptr<const Metric> metric(const Eigen::MatrixXd& inverse_mass) const;
};

}  // namespace rehmc
