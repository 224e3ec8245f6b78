// Acceptance in parts of a stage, and how the share of divergences grows with the step size.
#include "safe_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace rehmc {

namespace {

/// In every half of every chain, if it has this many trials.
constexpr double least_acceptance = 0.5;
constexpr std::size_t least_trials = 10;
/// Beyond twice this share, nothing is sharpened.
constexpr double most_diverging = 0.0025;
/// Where a scale varies continuously, the share of divergences grows with a low power of the step
/// size; where there is a narrowest place, steps that suit it have none.
constexpr std::array powers{2.0, 4.0, 8.0, 16.0};
/// That much more likely must it be that the share does not depend on the step size at all: then
/// shorter steps do not help.
constexpr double log_certainty = 2;

}  // namespace

double step_accepted_everywhere(const std::vector<std::vector<StepTrial>>& trials, double fitted) {
  double step_size = fitted;
  for (const auto& chain : trials) {
    const std::span<const StepTrial> all(chain);
    const std::size_t middle = all.size() / 2;
    if (middle < least_trials) continue;
    for (const auto part : {all.first(middle), all.subspan(middle)}) {
      step_size = std::min(step_size, fit_step_size(part, least_acceptance));
    }
  }
  return step_size;
}

double step_without_divergences(const std::vector<std::vector<StepTrial>>& trials) {
  double divergences = 0;
  double longest = 0;
  double all = 0;
  for (const auto& chain : trials) {
    for (const StepTrial& trial : chain) {
      divergences += trial.diverged() ? 1 : 0;
      longest = std::max(longest, trial.step_size);
      all += 1;
    }
  }
  // One may be chance.
  if (divergences < 2) return std::numeric_limits<double>::infinity();
  double best = -std::numeric_limits<double>::infinity();
  double step_size = 0;
  for (const double power : powers) {
    double exposure = 0;
    double log_likelihood = 0;
    for (const auto& chain : trials) {
      for (const StepTrial& trial : chain) {
        const double log_step = std::log(trial.step_size / longest);
        exposure += std::exp(power * log_step);
        if (trial.diverged()) log_likelihood += power * log_step;
      }
    }
    log_likelihood -= divergences * std::log(exposure);
    if (log_likelihood <= best) continue;
    best = log_likelihood;
    step_size = longest * std::pow(most_diverging * exposure / (divergences - 1), 1 / power);
  }
  const bool whatever_the_step = -divergences * std::log(all) > best + log_certainty;
  return whatever_the_step ? std::numeric_limits<double>::infinity() : step_size;
}

}  // namespace rehmc
