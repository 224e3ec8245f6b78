// Quantiles from the histograms of several streams.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/running/binned_quantiles.hpp"

namespace rehmc {

/// A quantile from bins. The stream's own quantile, the least number at or below which lies at
/// least the share p of the weight, is at most error_bound away, whatever the numbers were: both
/// lie in the same bin. (All this up to rounding.)
struct BinnedQuantile {
  double value = 0;
  double error_bound = 0;
};

/// The numbers of one coordinate from several streams, whose bins may differ, taken together.
class PooledBins {
 public:
  PooledBins(std::span<const BinnedQuantiles* const> streams, std::size_t coordinate);

  /// By monotone cubic interpolation (Fritsch, Carlson 1980) of each stream's cumulative weights
  /// between the edges of its bins. NaN without numbers, and where one was not finite. ConfigError
  /// unless the probability lies in [0, 1].
  BinnedQuantile quantile(double probability) const;

 private:
  /// Where a stream's cumulative weight is known, with the slope to give its interpolant there.
  struct Node {
    double x;
    double weight;
    double slope;
  };
  /// The weight that a stream may have gathered at an edge.
  struct Step {
    double x;
    double weight;
  };

  static void set_slopes(std::span<Node> nodes);
  /// Restores the order after steps in rising order were appended to known ones.
  static void merge_new(std::vector<Step>& steps, std::ptrdiff_t known);
  double weight_below(double x) const;
  double where_reaches(double target, double low, double high) const;

  std::vector<std::vector<Node>> streams_;
  std::vector<Step> starts_;  ///< every bin's weight at its lower edge, rising in x
  std::vector<Step> ends_;    ///< every bin's weight at its upper edge, rising in x
  double weight_ = 0;
};

}  // namespace rehmc
