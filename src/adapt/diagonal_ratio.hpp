// Private to adapt/: a diagonal metric from the variances of states and gradients.
#pragma once

#include "metric_estimator.hpp"

namespace rehmc {

/// sqrt(var x / var g), coordinate by coordinate: the diagonal S with S Cov(g) S = Cov(x) on its
/// diagonal. Exact for independent normal coordinates, after one trajectory.
std::shared_ptr<const Metric> diagonal_ratio(const CentredStates& states);

/// The same numbers; an entry is not positive, or not finite, if the coordinate never changed.
Eigen::VectorXd variance_ratio(const CentredStates& states);

}  // namespace rehmc
