// Histograms of streams of numbers, with bins that are fixed in advance.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/core/state.hpp"

namespace rehmc {

/// Histograms of streams of weighted numbers, one for every coordinate, whose bins are fixed
/// beforehand: 48 of equal width over location +- 4 scale, and on each side 8 of which each is
/// twice as wide as its inner neighbour (2, 4, ..., 128 widths, up to 46 scales from the location);
/// the outermost are open and end where the numbers do.
///
/// A NaN or an infinity makes all quantiles of its coordinate NaN.
class BinnedQuantiles {
 public:
  static constexpr std::size_t bins = 64;

  BinnedQuantiles() = default;
  /// Where most of the numbers will be; a poor guess costs accuracy, which the error bounds show. A
  /// scale that is not positive and finite, as of a coordinate that has not moved yet, is replaced
  /// by the size of the location. DataError for spans of unequal length or a location that is not
  /// finite.
  BinnedQuantiles(std::span<const double> location, std::span<const double> scale);

  /// Weights must be finite and not negative.
  void add(double weight, std::span<const double> x);
  /// All states of a draw, their weights times the factor: faster than one after the other.
  void add(std::span<const WeightedState> states, double factor = 1);

  std::size_t dimension() const { return location_.size(); }
  /// The least and the largest number: an infinity of the wrong sign before there is any.
  double least(std::size_t coordinate) const { return least_[coordinate]; }
  double most(std::size_t coordinate) const { return most_[coordinate]; }
  std::span<const double, bins> weights(std::size_t coordinate) const {
    return std::span<const double, bins>(weights_.data() + coordinate * bins, bins);
  }
  /// Where a bin ends, the last excepted.
  double upper_edge(std::size_t coordinate, std::size_t bin) const;
  std::size_t bytes() const;
  /// As ChunkSums::is_whole().
  bool is_whole(std::size_t dimension) const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(location_, inverse_width_, least_, most_, weights_);
  }

 private:
  std::vector<double> location_;
  std::vector<double> inverse_width_;  ///< of the bins in the middle
  std::vector<double> least_;
  std::vector<double> most_;
  std::vector<double> weights_;  ///< all bins of one coordinate side by side
};

}  // namespace rehmc
