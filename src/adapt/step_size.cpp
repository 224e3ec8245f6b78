// First guess of the step size and dual averaging.
#include "rehmc/adapt/step_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rehmc/core/error.hpp"

namespace rehmc {

void DualAveraging::restart(double step_size) {
  pull_ = std::log(10 * step_size);
  error_mean_ = 0;
  log_average_ = std::log(step_size);  // what averaged() returns before the first update
  iterations_ = 0;
}

double DualAveraging::learn(double acceptance) {
  iterations_ += 1;
  const double error = settings_.target_acceptance - std::min(1.0, acceptance);
  const double share = 1 / (iterations_ + settings_.offset);
  error_mean_ = (1 - share) * error_mean_ + share * error;
  const double log_step = pull_ - error_mean_ * std::sqrt(iterations_) / settings_.regularisation;
  const double newest = std::pow(iterations_, -settings_.relaxation);
  log_average_ = (1 - newest) * log_average_ + newest * log_step;
  return std::exp(log_step);
}

double DualAveraging::averaged() const { return std::exp(log_average_); }

double find_step_size(Kernel& kernel, const Tuning& guess, Stream& stream) {
  constexpr double smallest = 1e-300;
  constexpr double largest = 1e7;
  const double threshold = std::log(0.8);
  Tuning tuning = guess;
  bool moved = true;
  const auto accepts = [&] {
    const double error = kernel.one_step_energy_error(tuning, stream);
    moved = !std::isnan(error);
    return !moved || -error > threshold;
  };
  const bool grow = accepts();
  for (;;) {
    tuning.step_size *= grow ? 2.0 : 0.5;
    if (grow && tuning.step_size > largest) {
      throw ModelError(fmt::format(
          "step size: steps of {} are still accepted; the density does not seem to fall off in any "
          "direction (is the posterior proper?)",
          largest));
    }
    const bool accepted = accepts();
    if (!grow && (!moved || tuning.step_size < smallest)) {
      throw ModelError(fmt::format(
          "step size: no step is small enough to be accepted from the current point; the log "
          "density "
          "is not continuous there, or its gradient is wrong (run check_gradient). Faults so far: "
          "{} "
          "NaN, {} infinite, {} bad gradients, {} exceptions{}{}",
          kernel.guard().faults(Fault::not_a_number),
          kernel.guard().faults(Fault::positive_infinity) +
              kernel.guard().faults(Fault::negative_infinity),
          kernel.guard().faults(Fault::bad_gradient), kernel.guard().faults(Fault::exception),
          kernel.guard().first_message().empty() ? "" : "; the model said: ",
          kernel.guard().first_message()));
    }
    if (accepted != grow) return tuning.step_size;
  }
}

}  // namespace rehmc
