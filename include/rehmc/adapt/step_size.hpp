// Tuning of the step size: a first guess, then dual averaging towards an acceptance probability.
#pragma once

#include <cstdint>
#include <tuple>

#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// Settings of dual averaging (Hoffman & Gelman 2014, section 3.2); names of the paper in brackets.
struct StepSizeSettings {
  double target_acceptance = 0.8;  ///< [delta]
  double regularisation = 0.05;    ///< [gamma]
  double relaxation = 0.75;        ///< [kappa]
  double offset = 10;              ///< [t0]

  static constexpr auto settings() {
    using S = StepSizeSettings;
    return std::tuple{
        Setting{"target_accept", &S::target_acceptance, inside(0, 1),
                "acceptance probability that the step size is tuned for"},
        Setting{"regularisation", &S::regularisation, positive_finite(),
                "dual averaging: shrinkage towards the initial step size"},
        Setting{"relaxation", &S::relaxation, Range{.least = 0.5, .most = 1, .open_below = true},
                "dual averaging: how quickly early iterations are forgotten"},
        Setting{"offset", &S::offset, positive_finite(),
                "dual averaging: damps the first iterations"}};
  }
  bool operator==(const StepSizeSettings&) const = default;
};

/// Dual averaging of the logarithm of the step size (Hoffman & Gelman 2014, Algorithm 5).
class DualAveraging {
 public:
  explicit DualAveraging(const StepSizeSettings& settings) : settings_(settings) {}

  /// Restarts from a step size; iterates are pulled towards ten times that size.
  void restart(double step_size);
  /// Learns from one transition and returns the step size to try next.
  double learn(double acceptance);
  /// The averaged step size: what to sample with.
  double averaged() const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(pull_, error_mean_, log_average_, iterations_);
  }

 private:
  StepSizeSettings settings_;
  double pull_ = 0;         ///< [mu]
  double error_mean_ = 0;   ///< [H bar]
  double log_average_ = 0;  ///< [log epsilon bar]
  double iterations_ = 0;   ///< [m]
};

/// A step size for which a single step is accepted with probability near 0.8: doubled or halved
/// from `guess` until that probability is crossed (Hoffman & Gelman 2014, Algorithm 4; 0.8 as in
/// Stan). ModelError if no step is small or large enough.
double find_step_size(Kernel& kernel, const Tuning& guess, Stream& stream);

}  // namespace rehmc
