// Estimates with error bars from running summaries of several chains.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/running/running_summary.hpp"
#include "rehmc/sharpen/sharpened.hpp"

namespace rehmc {

/// Estimates of one coordinate from running summaries.
struct RunningEstimate {
  Estimate plain;
  std::vector<double> plain_bounds;  ///< for every quantile, by how much bins may have moved it
  std::optional<Estimate> recycled;  ///< absent without recycling
  std::vector<double> recycled_bounds;
  /// Absent without gradients, and where the recycled one has no errors. Its quantiles, and the
  /// mean or the sd where no feature helped, are the recycled ones. Tails are not judged.
  std::optional<SharpenedEstimate> sharpened;
  /// Of the chains' own draws split in halves, up to a draw more or less in a half, without ranks
  /// (Gelman et al. 2013); NaN unless the condition is ordinary.
  double rhat = nan_value;
  /// ESS of the mean from chunks about the means of their half chains, and its degrees of freedom:
  /// for most_healthy_rhat().
  double ess_within = nan_value;
  double degrees_within = nan_value;
};

/// Estimates from running summaries, one per chain; their lengths may differ.
///
/// Means and sds are those of all draws. Their errors are by batch means: with chunks of b draws
/// whose sums are S_k,
///   long-run variance = sum over chunks of (S_k - b mean)^2 / b / (number of chunks - 1),
///   MCSE^2            = long-run variance / (number of draws),
///   ESS               = Var(f) / MCSE^2.
/// This is accurate once chunks are much longer than the autocorrelation time, and itself varies by
/// some 10% (64 to 128 chunks of 4 chains). Where R-hat exceeds 1.05 the chains disagree by more
/// than chunks can see; then the halves of the chains serve as chunks, if that gives a larger
/// error. ess_sd is that of f = (x - mean)^2 for both plain and recycled draws, Var(f) from the
/// plain draws. All are NaN below 8 full chunks in a chain, and unless the condition is ordinary.
/// Quantiles are from bins and have no mcse or ess.
///
/// With gradients, means and sds are sharpened as well: chunk sums are regressed on those of the
/// coordinate's own Stein features, with coefficients for the chunks of a chain from the other
/// chains (of less than four chains: for blocks of them from all other blocks). What is left is
/// averaged in the same way, with an error that is raised if neighbouring chunks are correlated and
/// if the residuals are skewed. The first one, two or three features take part, whichever leave the
/// least variance; one more must reduce it by a tenth, and there must be 8 chunks to fit for every
/// feature.
///
/// DataError without chains, and for chains that differ in dimension, in recycling or in gradients.
RunningEstimate running_estimate(std::span<const RunningSummary* const> chains,
                                 std::size_t coordinate,
                                 std::span<const double> probabilities = standard_probabilities);

}  // namespace rehmc
