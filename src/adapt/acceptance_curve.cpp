// Fits the one number of the acceptance curve.
#include "rehmc/adapt/acceptance_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

/// By how much the trials were accepted more often than the curve 2 Phi(-c e^2 / 2) says; rises
/// with c.
double excess_at(double log_c, std::span<const StepTrial> trials) {
  const double factor = -0.5 * std::exp(log_c);
  double excess = 0;
  for (const StepTrial& trial : trials) {
    const double expected = 2 * normal_cdf(factor * trial.step_size * trial.step_size);
    excess += trial.weight * (trial.acceptance - expected);
  }
  return excess;
}

}  // namespace

double fit_step_size(std::span<const StepTrial> trials, double acceptance) {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const StepTrial& trial : trials) {
    smallest = std::min(smallest, trial.step_size);
    largest = std::max(largest, trial.step_size);
  }
  // Acceptance is between 10^-4 and 1 - 10^-4 at all step sizes tried: what lies beyond cannot be
  // told from the trials.
  double low = std::log(2.5e-4 / (largest * largest));
  double high = std::log(7.8 / (smallest * smallest));
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    // No number lies between: the middle stays this one, whichever half is taken.
    if (middle == low || middle == high) break;
    (excess_at(middle, trials) > 0 ? high : low) = middle;
  }
  return std::sqrt(-2 * normal_quantile(0.5 * acceptance) / std::exp(0.5 * (low + high)));
}

}  // namespace rehmc
