// Private to adapt/: what every estimator of a metric is given, and what it is.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string_view>

#include "rehmc/dynamics/metric.hpp"

namespace rehmc {

/// States of several chains, each chain about its own mean: chains that sit at different places
/// must not make the metric wider. A row per state, multiplied by the square root of its weight;
/// the weights sum to 1.
struct CentredStates {
  Eigen::MatrixXd x;  ///< positions
  Eigen::MatrixXd g;  ///< gradients
  double draws = 0;   ///< trajectories that the states are from
};

/// One way to estimate M^{-1}. It returns nullptr where these states do not suffice.
struct MetricEstimator {
  std::string_view name;
  MetricKind kind;
  std::shared_ptr<const Metric> (*estimate)(const CentredStates& states);
};

}  // namespace rehmc
