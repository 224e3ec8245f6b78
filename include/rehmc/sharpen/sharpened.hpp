// The result of sharpening: estimates, the features they use, and the Stein check.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rehmc/estimate/recycled.hpp"

namespace rehmc {

/// Which features an estimate uses, from the smallest set to the largest.
enum class FeatureSet {
  none,            ///< the recycled estimate, unchanged
  plain,           ///< the plain draws less the recycled states, which need no gradients
  bounded,         ///< those of the scalar's own coordinate whose fields are bounded
  own,             ///< all of the scalar's own coordinate
  bounded_linear,  ///< bounded, plus the gradients of all coordinates and of all blocks' scales
  linear,          ///< own, plus the gradients of all coordinates and of all blocks' scales
  row,             ///< linear, plus fields along the own coordinate that grow with others
  quadratic,       ///< linear, plus all fields that are linear in the state
};
inline constexpr std::size_t feature_sets = static_cast<std::size_t>(FeatureSet::quadratic) + 1;

std::string_view describe(FeatureSet set) noexcept;

/// One scalar, sharpened. Where no feature helped, the numbers are those known without gradients.
struct SharpenedEstimate {
  Estimate estimate;
  FeatureSet mean_set = FeatureSet::none;
  FeatureSet sd_set = FeatureSet::none;
  std::vector<FeatureSet> quantile_sets;
  /// False if most of the squared error stands for events that the run has not seen, as far as the
  /// gradients at its extremes tell: the tail may hold more than the run shows.
  bool mean_tail_seen = true;
  bool sd_tail_seen = true;
};

/// The estimate that is known without gradients; no feature in use.
SharpenedEstimate unsharpened(const Estimate& known);

/// Averages of functions whose mean is known to be 0: how far they are from it, in standard errors.
/// A failure by chance deserves a warning, but only a failure of the model (or of convergence) a
/// refusal. Given the average, its parts, such as halves or single chains, do not tell one from the
/// other; the distance does, for a model's fault grows with the root of the number of draws.
struct SteinCheck {
  /// The probability that a healthy run fails.
  static constexpr double false_alarm_rate = 1e-3;
  /// The probability that a healthy run fails so badly that it must not be sharpened.
  static constexpr double false_refusal_rate = 1e-6;

  std::size_t features = 0;    ///< number of averages that were tested
  double worst = 0;            ///< the largest |z|
  double limit = 0;            ///< the worst of that many exceeds it with the false alarm rate
  double refusal_limit = 0;    ///< likewise with the false refusal rate
  std::size_t coordinate = 0;  ///< of the worst, or the first of its block
  bool passed() const { return worst <= limit; }
  bool refuses() const { return worst > refusal_limit; }
};

}  // namespace rehmc
