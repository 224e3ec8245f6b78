// The step size from acceptance probabilities at many step sizes, by a curve fitted to all of them.
#pragma once

#include <span>
#include <vector>

namespace rehmc {

/// One trajectory: its step size, its mean acceptance probability, and its cost.
struct StepTrial {
  using stored_as_bytes = void;
  double step_size = 1;
  double acceptance = 0;
  double weight = 1;
  double leapfrogs = 0;  ///< 0: it diverged, which cut it short

  bool diverged() const { return leapfrogs < 1; }
};

/// The step size with this mean acceptance probability.
///
/// Energy errors of the leapfrog grow with the square of the step size e, and so, in many
/// dimensions, acceptance is 2 Phi(-c e^2 / 2) for some c (Beskos et al. 2013, theorem 3.6). We fit
/// c to all trials, each at its own step size. The average of acceptance over trials is thus the
/// one asked for, whereas dual averaging, which averages step sizes, ends above it.
double fit_step_size(std::span<const StepTrial> trials, double acceptance);

}  // namespace rehmc
