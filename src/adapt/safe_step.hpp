// Private to adapt/: the longest step that every part of a density allows.
#pragma once

#include <vector>

#include "rehmc/adapt/acceptance_curve.hpp"

namespace rehmc {

// A step size with the right acceptance on average may still be too long somewhere: a chain in a
// narrow place then rejects for long, or its trajectories diverge. The trials are those of each
// chain, in their order.

/// The fitted step, or the longest that every half of every chain accepts half of the time.
double step_accepted_everywhere(const std::vector<std::vector<StepTrial>>& trials, double fitted);

/// The longest step with few divergences; infinite if there were too few to tell.
double step_without_divergences(const std::vector<std::vector<StepTrial>>& trials);

}  // namespace rehmc
