// What is kept of one chain if its draws are not stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehmc/core/state.hpp"
#include "rehmc/running/binned_quantiles.hpp"
#include "rehmc/running/chunk_sums.hpp"

namespace rehmc {

/// All that is kept of one chain: some 2.1 kB per coordinate with recycling, 2.5 kB with gradients
/// as well, 1.1 kB without either, however long it runs.
class RunningSummary {
 public:
  RunningSummary() = default;
  /// The centre that the moments of draws are taken about; it should lie in the bulk of the target.
  /// Bins are centred there; their width comes from the scale. Without recycling the recycled
  /// halves take no memory. With `gradients`, which needs recycling, means and sds can be
  /// sharpened.
  RunningSummary(std::span<const double> centre, std::span<const double> scale, bool recycling,
                 bool gradients = false);

  /// One draw: the chain's position; the means over all states of the trajectory of x - centre and
  /// (x - centre)^2; the states that recycling kept; how much the draw counts among the recycled
  /// ones; and the gradient means over the same states, if those are summed. Without
  /// recycling only the position matters.
  void add(std::span<const double> position, std::span<const double> mean_offset,
           std::span<const double> mean_square, std::span<const WeightedState> kept,
           double mass = 1, const GradientMeans& gradients = {});

  std::size_t dimension() const { return centre_.size(); }
  std::uint64_t count() const { return plain_.count(); }
  bool recycling() const { return recycling_; }
  bool gradients() const { return recycled_.has_stein(); }
  std::size_t bytes() const;

  double centre(std::size_t coordinate) const { return centre_[coordinate]; }
  const ChunkSums& plain() const { return plain_; }
  const ChunkSums& recycled() const { return recycled_; }
  const BinnedQuantiles& plain_bins() const { return plain_bins_; }
  const BinnedQuantiles& recycled_bins() const { return recycled_bins_; }
  /// Sum of (position - centre - offset)^4 over the draws.
  double fourth_power(std::size_t coordinate, double offset) const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(recycling_, centre_, plain_, recycled_, plain_bins_, recycled_bins_, third_, fourth_);
    require_whole();
  }

 private:
  /// DataError if arrays of a restored summary do not fit together: it would be read, and added to,
  /// beyond their ends.
  void require_whole() const;

  bool recycling_ = false;
  std::vector<double> centre_;
  ChunkSums plain_;
  ChunkSums recycled_;
  BinnedQuantiles plain_bins_;
  BinnedQuantiles recycled_bins_;
  std::vector<double> third_;   ///< sum of (position - centre)^3
  std::vector<double> fourth_;  ///< sum of (position - centre)^4
};

}  // namespace rehmc
