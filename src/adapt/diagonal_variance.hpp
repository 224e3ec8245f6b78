// Private to adapt/: a diagonal metric from the variances of the states.
#pragma once

#include "metric_estimator.hpp"

namespace rehmc {

/// var x, shrunk as Stan does: eq. (5.3) of Nishimura & Dunson (2020).
std::shared_ptr<const Metric> diagonal_variance(const CentredStates& states);

}  // namespace rehmc
