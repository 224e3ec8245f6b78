// Private to adapt/: a metric that is diagonal except along a few directions.
#pragma once

#include "metric_estimator.hpp"

namespace rehmc {

/// Diagonal plus low rank, matrix-free: the fit that sharpening uses for many coordinates.
std::shared_ptr<const Metric> low_rank_estimate(const CentredStates& states);

}  // namespace rehmc
