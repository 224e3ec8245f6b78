// Private to running/: the batches of one coordinate of several chains, and errors from them.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "rehmc/running/running.hpp"

namespace rehmc {

using Summaries = std::span<const RunningSummary* const>;

/// Whether a variance by batches counts that neighbours move together, as short ones do. That takes
/// out the bias, but scatters: raised only, never lowered.
enum class Neighbours { ignored, counted };

/// The full batches of chain c are [ends[c - 1], ends[c]) of all full ones.
struct PooledBatches {
  using Batch = BatchSums::Batch;
  /// Below so many full batches in a chain their scatter says too little.
  static constexpr std::size_t fewest = 8;

  /// Offsets are from the centre of the first chain, moved by this.
  PooledBatches(Summaries chains, std::size_t coordinate,
                const BatchSums& (RunningSummary::*part)() const, double moved = 0);

  /// The long-run variance per draw. `deviation` has the sum over each full batch of the deviations
  /// from the average.
  double long_run_variance(std::span<const double> deviation, Neighbours neighbours) const;
  /// The squared Monte Carlo standard error of an average over all draws, by that, and by the
  /// halves of the chains if these disagree. NaN without enough batches.
  double squared_error(std::span<const double> deviation, bool disagree,
                       Neighbours neighbours = Neighbours::ignored) const;

  /// A sum over each full batch.
  template <class Sum>
  std::vector<double> over_full(Sum sum) const {
    std::vector<double> sums;
    sums.reserve(full.size());
    for (const Batch& batch : full) sums.push_back(sum(batch));
    return sums;
  }

  double centre;
  std::vector<Batch> full;
  std::vector<std::size_t> ends;
  std::vector<Batch> begun;  ///< the last batch of each chain
  Batch total;
  bool enough = true;
};

/// All must be of one coordinate and about the same centre.
BatchSums::Batch sum_of(std::span<const BatchSums::Batch> batches);

/// DataError unless there are chains and these are alike.
void check_alike(Summaries chains);

/// Mean and sd of the recycled estimate, sharpened. `recycled` has errors.
SharpenedEstimate sharpen_batches(Summaries chains, std::size_t coordinate,
                                  const Estimate& recycled, double spread_of_squares,
                                  bool disagree);

}  // namespace rehmc
