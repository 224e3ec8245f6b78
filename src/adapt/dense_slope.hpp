// Private to adapt/: a dense metric from the slope of positions on gradients.
#pragma once

#include "metric_estimator.hpp"

namespace rehmc {

/// Minus the least-squares slope of x on g, made symmetric: what sharpening maps gradients by.
std::shared_ptr<const Metric> dense_slope(const CentredStates& states);

}  // namespace rehmc
