// Summaries of endless chains in bounded memory: batch sums, and quantiles from bins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "rehmc/core/state.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/sharpen/sharpen.hpp"

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
  /// Where most of the numbers will be; a poor guess costs accuracy, and the error bounds tell. A
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

  /// The share of the weight at or below x, by the same interpolation.
  double cumulative(double x) const;

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

/// Means over the states of a draw, for every coordinate, of what the gradient g of the log density
/// tells: g, (x - centre) g and (x - centre)^2 g.
struct GradientMeans {
  std::span<const double> gradient;
  std::span<const double> first;
  std::span<const double> second;
};

/// Sums of offsets and their squares for every coordinate over batches of consecutive draws, maybe
/// with those of Stein features, whose mean is 0: with u = (x - centre) / scale and g the gradient
/// in units of 1 / scale, they are g, u g + 1 and u^2 g + 2 u. There
/// are at most 32 batches; when all are full, neighbours merge and batches become twice as long. So
/// 31 x 32 draws have 31 batches of 32, ten million draws 19 of 524288.
class BatchSums {
 public:
  static constexpr std::size_t most_batches = 32;

  BatchSums() = default;
  explicit BatchSums(std::size_t dimension);
  /// With Stein features, in these units; a scale that is not positive and finite counts as 1.
  BatchSums(std::size_t dimension, std::span<const double> scale);

  /// One draw: its offsets from a centre and their squares, or means of these over its states, and
  /// how much it counts.
  void add(std::span<const double> offset, std::span<const double> square, double mass = 1);
  /// One draw whose states are just itself.
  void add_position(std::span<const double> position, std::span<const double> centre);
  /// One draw, for sums with Stein features.
  void add(std::span<const double> offset, std::span<const double> square,
           const GradientMeans& gradients, double mass = 1);

  /// Sums over one batch, for one coordinate.
  struct Batch {
    double draws = 0;
    double mass = 0;
    double first = 0;   ///< sum of mass times offset
    double second = 0;  ///< sum of mass times square
    /// Sums of mass times Stein feature; zero without such.
    std::array<double, 3> stein{};
  };

  std::size_t dimension() const { return dimension_; }
  bool has_stein() const { return !scale_.empty(); }
  std::uint64_t count() const { return full_ * length_ + filled_; }
  /// Batches that are full; one more may be begun.
  std::size_t full() const { return full_; }
  /// The sums of batch 0, ..., full(), the last being the one begun, about a centre moved by this.
  Batch batch(std::size_t index, std::size_t coordinate, double shift = 0) const;
  std::size_t bytes() const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(dimension_, length_, full_, filled_, masses_, first_, second_, scale_, stein_);
  }

 private:
  void end_draw(double mass);

  std::size_t dimension_ = 0;
  std::uint64_t length_ = 1;  ///< draws of a full batch
  std::size_t full_ = 0;
  std::uint64_t filled_ = 0;  ///< draws of the batch begun
  std::vector<double> masses_;
  std::vector<double> first_;  ///< batch by batch, so that a draw adds one row to another
  std::vector<double> second_;
  std::vector<double> scale_;  ///< of the Stein features; empty without them
  /// Batch by batch the three features one after the other. Their mean is 0, so that sums stay
  /// small and what rounding adds is far below any error.
  std::vector<float> stein_;
};

/// All that is kept of one chain: some 2.1 kB per coordinate with recycling, 2.5 kB with gradients
/// as well, 1.1 kB without either, however long it runs.
class RunningSummary {
 public:
  RunningSummary() = default;
  /// The centre that the moments of draws are taken about; it should lie in the bulk of the target.
  /// Bins are laid about it by the scale. Without recycling the recycled halves take no memory.
  /// With `gradients`, which needs recycling, means and sds can be sharpened.
  RunningSummary(std::span<const double> centre, std::span<const double> scale, bool recycling,
                 bool gradients = false);

  /// One draw: the chain's position; the means over all states of the trajectory of x - centre and
  /// (x - centre)^2; the states that recycling kept; how much the draw counts among the recycled
  /// ones; and the means of what gradients tell, over the same states, if those are summed. Without
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
  const BatchSums& plain() const { return plain_; }
  const BatchSums& recycled() const { return recycled_; }
  const BinnedQuantiles& plain_bins() const { return plain_bins_; }
  const BinnedQuantiles& recycled_bins() const { return recycled_bins_; }
  /// Sum of (position - centre - offset)^4 over the draws.
  double fourth_power(std::size_t coordinate, double offset) const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(recycling_, centre_, plain_, recycled_, plain_bins_, recycled_bins_, third_, fourth_);
  }

 private:
  bool recycling_ = false;
  std::vector<double> centre_;
  BatchSums plain_;
  BatchSums recycled_;
  BinnedQuantiles plain_bins_;
  BinnedQuantiles recycled_bins_;
  std::vector<double> third_;   ///< sum of (position - centre)^3
  std::vector<double> fourth_;  ///< sum of (position - centre)^4
};

/// What running summaries tell about one coordinate.
struct RunningEstimate {
  Estimate plain;
  std::vector<double> plain_bounds;  ///< for every quantile, by how much bins may have moved it
  std::optional<Estimate> recycled;  ///< absent without recycling
  std::vector<double> recycled_bounds;
  /// Absent without gradients, and where the recycled one has no errors. Its quantiles, and the
  /// mean or the sd where no feature helped, are the recycled ones. Tails are not judged.
  std::optional<SharpenedEstimate> sharpened;
  /// Of the chains' own draws split in halves, without ranks (as rhat_basic, up to a draw more or
  /// less in a half); NaN unless the condition is ordinary.
  double rhat = std::numeric_limits<double>::quiet_NaN();
};

/// Estimates from running summaries, one per chain; their lengths may differ.
///
/// Means and sds are those of all draws. Their errors are by batch means: with batches of b draws
/// whose sums are S_k,
///   long-run variance = sum over batches of (S_k - b mean)^2 / b / (number of batches - 1),
///   MCSE^2            = long-run variance / (number of draws),
///   ESS               = Var(f) / MCSE^2.
/// This is honest once batches are much longer than the chain remembers, and varies by some 10%
/// itself (64 to 128 batches of 4 chains). Where R-hat exceeds 1.05 the chains disagree by more
/// than batches can see; then the halves of the chains serve as batches, if that gives a larger
/// error. ess_sd is that of f = (x - mean)^2 for plain and recycled alike, Var(f) from the plain
/// draws. All are NaN below 8 full batches in a chain, and unless the condition is ordinary.
/// Quantiles are from bins and have no mcse or ess.
///
/// With gradients, means and sds are sharpened as well: batch sums are regressed on those of the
/// coordinate's own Stein features, with coefficients for the batches of a chain from the other
/// chains (of less than four chains: for blocks of them from all other blocks). What is left is
/// averaged in the same way, with an error that is raised where neighbouring batches move together
/// and where what is left is lopsided. The first one, two or three features take part, whichever
/// leave least; one more must cut the variance by a tenth, and there must be 8 batches to fit for
/// every feature.
///
/// DataError without chains, and for chains that differ in dimension, in recycling or in gradients.
RunningEstimate running_estimate(std::span<const RunningSummary* const> chains,
                                 std::size_t coordinate,
                                 std::span<const double> probabilities = standard_probabilities);

/// Of all coordinates.
std::vector<RunningEstimate> running_estimates(
    std::span<const RunningSummary* const> chains,
    std::span<const double> probabilities = standard_probabilities);

/// From so many draws on, batches are of 8 at least: shorter ones say too little of how slow a
/// chain is.
inline constexpr std::uint64_t fewest_draws_of_running_check = 128;

/// Whether the averages of the first two Stein features of all coordinates are 0, up to their own
/// errors by batches and neighbours of these; the limit is by Student's t, for a third of their
/// number. Without gradients, and with fewer draws than that in a chain, no features are looked at.
/// DataError as above.
SteinCheck running_stein_check(std::span<const RunningSummary* const> chains);

}  // namespace rehmc
