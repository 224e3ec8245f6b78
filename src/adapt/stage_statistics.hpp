// Private to adapt/: numbers that a group of chains reads off a stage of warmup.
#pragma once

#include <span>
#include <vector>

#include "metric_estimator.hpp"
#include "rehmc/adapt/state_sample.hpp"

namespace rehmc {

/// The step size for one metric in units of that for another, from the gradients of two sets of
/// chains: energy errors are in proportion to e^2 times the Frobenius norm of M^{-1} Cov(g),
/// exactly so for a normal density. 1 if it cannot be told.
double step_size_ratio(const Metric& to, const Metric& from, const CentredStates& one,
                       const CentredStates& other);

/// The difference between the second and the first half of every chain's series, averaged over
/// chains, in units of the sd of all.
double drift(const std::vector<std::span<const double>>& chains);

/// How much mass there is where a chain is, up to a constant of the density: the logarithm of its
/// height plus that of its volume, the mean log density and the sum of log sds of the coordinates.
/// -inf for a chain that never moved.
double log_mass(const StateSample& states, std::span<const double> log_densities);

/// Chains where there is no mass to speak of in comparison with the median of the others: further
/// below than chance explains for stages of a few draws.
std::vector<std::size_t> outliers_below(std::span<const double> log_masses, std::size_t dimension);

}  // namespace rehmc
