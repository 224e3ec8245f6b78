// Private to adapt/: numbers that a group of chains reads off a stage of warmup.
#pragma once

#include <span>
#include <vector>

#include "metric_estimator.hpp"

namespace rehmc {

/// The step size for one metric in units of that for another, from the gradients of two sets of
/// chains: energy errors are in proportion to e^2 times the Frobenius norm of M^{-1} Cov(g),
/// exactly so for a normal density. 1 if it cannot be told.
double step_size_ratio(const Metric& to, const Metric& from, const CentredStates& one,
                       const CentredStates& other);

/// The difference between the second and the first half of every chain's series, averaged over
/// chains, in units of the sd of all.
double drift(const std::vector<std::span<const double>>& chains);

}  // namespace rehmc
