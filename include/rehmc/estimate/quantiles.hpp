// Quantiles of weighted numbers: exact ones of stored numbers, a sketch for endless streams.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// The distribution of stored numbers with weights, sorted once and asked as often as one likes.
class EmpiricalDistribution {
 public:
  /// No weights: all alike. Weights need not sum to 1; numbers of weight 0 are left out. Throws
  /// DataError without numbers, or unless all weights are finite and not negative with a positive
  /// sum.
  explicit EmpiricalDistribution(std::vector<double> values, std::span<const double> weights = {});

  /// The quantile of type 7 (Hyndman, Fan 1996; R's default), generalised to weights as in Akinshin
  /// (2023), arXiv:2304.07265: with n = (sum w)^2 / sum w^2 effective numbers, the mean of the
  /// inverse distribution function over the window of width 1/n that begins at p (1 - 1/n). For
  /// equal weights this is type 7 itself; it is continuous in the weights, and a number whose
  /// weight tends to 0 ceases to matter.
  /// NaN if any number is NaN. Throws ConfigError unless the probability lies in [0, 1].
  double quantile(double probability) const;

  /// The share of the weight at or below x.
  double cumulative(double x) const;

  /// Numbers in rising order.
  std::span<const double> values() const { return values_; }

 private:
  std::vector<double> values_;
  /// Share of the weight at or below each number; empty if all weigh alike.
  std::vector<double> cumulative_;
  double effective_count_ = 0;
  bool has_nan_ = false;
};

/// Quantiles of a stream of weighted numbers in one pass and bounded memory, mergeable.
///
/// A binary counter of sorted buffers of k numbers (Manku, Rajagopalan, Lindsay 1999; Agarwal et
/// al. 2013; Karnin, Lang, Liberty 2016). Numbers gather until there are 2k; then, and whenever two
/// buffers of one level meet, they are collapsed into k numbers of equal weight by systematic
/// sampling in rising order with a random offset. With total weight W in a collapse this changes
/// the weight at or below any x by less than W / k, by zero on average, and with a variance of f (1
/// - f) (W / k)^2, where f is the fractional part of (weight at or below x) k / W. Collapses are
/// independent given what went before, so variances add up; for N numbers of similar weight the
/// standard error of a rank, as a share of N, is at most 1 / (sqrt(2) k) and typically 1 / (2 k),
/// whatever N is. Memory: k (2 + log2(N / k)) numbers.
class QuantileSketch {
 public:
  /// The address seeds the offsets: the same numbers in the same order give the same sketch. Chains
  /// that will be merged need different addresses. Throws ConfigError unless buffer_size >= 2.
  explicit QuantileSketch(const Address& address, std::size_t buffer_size = 512);

  /// Throws DataError unless the weight is finite and not negative. A weight of 0 is ignored, NaN
  /// makes all quantiles NaN.
  void add(double weight, double value);

  /// As if everything that the other sketch has seen had been added here, in some order. Throws
  /// ConfigError if the buffer sizes differ.
  void merge(const QuantileSketch& other);

  /// What is kept, as a distribution: exact as long as fewer than 2 k numbers came. Throws
  /// DataError if nothing has been added.
  EmpiricalDistribution distribution() const;

  double weight() const { return weight_; }
  std::size_t buffer_size() const { return buffer_size_; }
  /// How many numbers are held.
  std::size_t stored() const;
  /// A bound on the standard error of cumulative(x) at any one x, from the collapses that took
  /// place.
  double rank_error() const;

 private:
  struct Item {
    double value;
    double weight;
  };
  struct Buffer {
    std::vector<double> values;  ///< rising; empty: this digit of the counter is 0
    double weight = 0;           ///< of each number
  };

  Buffer collapse(std::span<const Item> sorted);
  void carry(Buffer buffer, std::size_t level);

  std::size_t buffer_size_;
  Stream stream_;
  std::vector<Item> fresh_;
  std::vector<Buffer> levels_;
  double weight_ = 0;
  double rank_variance_ = 0;
  bool has_nan_ = false;
};

}  // namespace rehmc
