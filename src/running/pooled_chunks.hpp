// Private to running/: the chunks of one coordinate of several chains, and errors from them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/running/running_summary.hpp"

namespace rehmc {

using Summaries = std::span<const RunningSummary* const>;

/// Whether a variance from chunks accounts for correlation between neighbours, which short chunks
/// have. This removes the bias but adds noise, so the variance is only ever raised.
enum class Neighbours { ignored, counted };

/// The full chunks of chain c are [ends[c - 1], ends[c]) of all full ones.
struct PooledChunks {
  using Chunk = ChunkSums::Chunk;
  /// With fewer full chunks in a chain, their variance is too uncertain.
  static constexpr std::size_t fewest = 8;

  /// Offsets are from the centre of the first chain, moved by this.
  PooledChunks(Summaries chains, std::size_t coordinate,
               const ChunkSums& (RunningSummary::*part)() const, double moved = 0);

  /// The long-run variance per draw. `deviation` has the sum over each full chunk of the deviations
  /// from the average.
  double long_run_variance(std::span<const double> deviation, Neighbours neighbours) const;
  /// The squared Monte Carlo standard error of an average over all draws, by that, and by the
  /// halves of the chains if these disagree. NaN without enough chunks.
  double squared_error(std::span<const double> deviation, bool disagree,
                       Neighbours neighbours = Neighbours::ignored) const;

  /// A sum over each full chunk.
  template <class Sum>
  std::vector<double> over_full(Sum sum) const {
    std::vector<double> sums;
    sums.reserve(full.size());
    for (const Chunk& chunk : full) sums.push_back(sum(chunk));
    return sums;
  }

  double centre;
  std::vector<Chunk> full;
  std::vector<std::size_t> ends;
  std::vector<Chunk> begun;  ///< the last chunk of each chain
  Chunk total;
  bool enough = true;
};

/// All must be of one coordinate and about the same centre.
ChunkSums::Chunk sum_of(std::span<const ChunkSums::Chunk> chunks);

/// DataError unless there are chains, all of one kind.
void check_alike(Summaries chains);
}  // namespace rehmc
