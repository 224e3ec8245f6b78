// Metrics in the three forms that Stan's files know.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rehmc/dynamics/metric.hpp"

namespace rehmc {

/// unit_e, diag_e or dense_e. Stan has no name for a low-rank metric, so it is written as a dense
/// one.
std::string_view stan_metric_type(MetricKind kind);

/// M^{-1} in full, row by row, whatever the metric.
std::vector<double> full_inverse_mass(const Metric& metric);

}  // namespace rehmc
