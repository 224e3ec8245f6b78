// The cumulative distribution function of the standard normal.
#pragma once

#include <cmath>
#include <numbers>

namespace rehmc {

inline double normal_cumulative(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

}  // namespace rehmc
