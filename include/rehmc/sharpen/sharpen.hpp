// Sharper means, sds and quantiles: the gradients that came with the states as control variates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rehmc/estimate/recycled.hpp"
#include "rehmc/estimate/series.hpp"

namespace rehmc {

// For a density exp(l) on R^d with gradient g of l, and any smooth vector field v that the density
// takes to zero at infinity, v . g + div v has the mean 0 (Stein's identity). So every such
// function of a state, a feature, tells how far the states of a run are off, and regression on a
// few of them takes that out of the summaries. docs/sharpening.md has the features, the proof and
// the limits.

/// The states of one chain, draw after draw, with the gradients that came with them.
struct GradientStates {
  std::span<const double> positions;    ///< one row of d numbers for every state
  std::span<const float> gradients;     ///< likewise; what rounding adds is far below any error
  std::span<const double> weights;      ///< of every state; they sum to 1 over a draw
  std::span<const std::size_t> begins;  ///< where the states of each draw begin, then their number
};

/// A scalar function of the state, by its values at all those states.
struct ScalarStates {
  /// If it is a monotone function of one coordinate alone: which.
  std::optional<std::size_t> coordinate;
  Chains values;  ///< at every state, one series per chain
  /// Per draw the means of x - centre and (x - centre)^2 over *all* states of its trajectory, where
  /// those are known; else empty.
  double centre = 0;
  Chains first;
  Chains second;
  /// What is known without gradients: the recycled estimate, or the plain one.
  Estimate known;
};

/// Which features took part, in rising order of their number.
enum class FeatureSet {
  none,            ///< the recycled estimate as it is
  bounded,         ///< of the scalar's own coordinate, for bounded fields only
  own,             ///< of the scalar's own coordinate
  bounded_linear,  ///< bounded, and the gradients of all coordinates and of all blocks' scales
  linear,          ///< own, and the gradients of all coordinates and of all blocks' scales
  row,             ///< linear, and fields along the own coordinate that grow with others
  quadratic,       ///< linear, and all fields that are linear in the state
};
std::string_view describe(FeatureSet set) noexcept;

/// One scalar, sharpened. Where no feature helped, numbers are those known without gradients.
struct SharpenedEstimate {
  Estimate estimate;
  FeatureSet mean_set = FeatureSet::none;
  FeatureSet sd_set = FeatureSet::none;
  std::vector<FeatureSet> quantile_sets;
  /// Whether tails that no feature cancelled are so heavy that the mean or the sd have no finite
  /// error: then their error bars cannot be trusted.
  bool mean_has_error = true;
  bool sd_has_error = true;
};

/// How far averages of functions with the known mean 0 are from it, in standard errors.
struct SteinCheck {
  /// The chance that a healthy run fails.
  static constexpr double false_alarm_rate = 1e-3;

  std::size_t features = 0;    ///< that were looked at
  double worst = 0;            ///< |z|
  double limit = 0;            ///< what the worst of so many exceeds with the false alarm rate
  std::size_t coordinate = 0;  ///< of the worst, or its block's first
  bool passed() const { return worst <= limit; }
};

struct SharpenSettings {
  /// Coordinates that belong together, such as the entries of a vector.
  std::vector<std::vector<std::size_t>> blocks;
  /// Estimate nothing: only check.
  bool check_only = false;
};

struct SharpenResult {
  SteinCheck check;
  std::vector<SharpenedEstimate> scalars;
};

/// Sharpens every scalar. What is fitted for the draws of some chains (the coefficients, and the
/// scales of the features) is fitted on the others, so that estimates stay unbiased and error bars
/// honest; a single chain is cut into blocks. Draws count alike. Throws DataError if chains differ
/// in length or data do not fit together.
SharpenResult sharpen(std::span<const GradientStates> chains, std::span<const ScalarStates> scalars,
                      const SharpenSettings& settings = {});

/// Coordinates whose names share what stands before the first dot or bracket.
std::vector<std::vector<std::size_t>> blocks_of(std::span<const std::string> names);

}  // namespace rehmc
