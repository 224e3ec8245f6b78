// Sharper means, sds and quantiles: gradients of the states serve as control variates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rehmc/estimate/recycled.hpp"
#include "rehmc/estimate/series.hpp"
#include "rehmc/sharpen/sharpened.hpp"

namespace rehmc {

// For a density exp(l) on R^d with gradient g of l, and any smooth vector field v such that v times
// the density vanishes at infinity, v . g + div v has mean 0 (Stein's identity). The average of
// such a function, a feature, over the states of a run shows how far the states are off, and
// regression on a few features removes that error from the summaries. docs/sharpening.md explains
// the features, the proof and the limits.

/// The states of one chain, draw after draw, with their gradients.
struct GradientStates {
  std::span<const double> positions;    ///< one row of d numbers for every state
  std::span<const float> gradients;     ///< likewise; the rounding is far below any error
  std::span<const double> weights;      ///< of every state; they sum to 1 over a draw
  std::span<const std::size_t> begins;  ///< where the states of each draw begin, then their number
  /// Of every draw, relative to the other draws; empty: all count the same.
  std::span<const double> masses{};
};

/// A scalar function of the state, given by its values at all those states.
struct ScalarStates {
  /// The coordinate, if the scalar is a monotone function of one coordinate alone.
  std::optional<std::size_t> coordinate;
  Chains values;  ///< at every state, one series per chain
  /// Per draw, the means of x - centre and (x - centre)^2 over *all* states of its trajectory, if
  /// they are known; else empty.
  double centre = 0;
  Chains first;
  Chains second;
  /// The draws themselves, one per draw, if they are known; else empty.
  Chains plain;
  /// What is known without gradients: the recycled estimate, or the plain one.
  Estimate known;
};

struct SharpenSettings {
  /// Coordinates that belong together, such as the entries of a vector.
  std::vector<std::vector<std::size_t>> blocks;
  /// Only make the Stein check; estimate nothing.
  bool check_only = false;
  /// Make no Stein check: with few scalars, far cheaper.
  bool no_check = false;
};

struct SharpenResult {
  SteinCheck check;
  std::vector<SharpenedEstimate> scalars;
};

/// Sharpens every scalar. What is fitted for the draws of some chains (coefficients, and the scales
/// of the features) is fitted on the other chains, so that estimates stay unbiased and error bars
/// honest; a single chain is cut into blocks. Throws DataError if chains
/// differ in length or the data do not fit together.
SharpenResult sharpen(std::span<const GradientStates> chains, std::span<const ScalarStates> scalars,
                      const SharpenSettings& settings = {});

/// Groups coordinates whose names agree up to the first dot or bracket.
std::vector<std::vector<std::size_t>> blocks_of(std::span<const std::string> names);

}  // namespace rehmc
