// Private to adapt/: a dense metric between the covariance of states and that of gradients.
#pragma once

#include "metric_estimator.hpp"

namespace rehmc {

/// The geometric mean of Cov(x) and Cov(g)^-1: the S with S Cov(g) S = Cov(x), which minimises
/// tr(S^-1 Cov(x)) + tr(S Cov(g)). A Gaussian has x = m - Sigma g at every state, so that S is
/// Sigma exactly, once there are more states than coordinates.
std::shared_ptr<const Metric> dense_geometric(const CentredStates& states);

}  // namespace rehmc
