// Quantiles of weighted numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehmc {

/// The distribution of stored numbers with weights, sorted once for any number of queries.
class EmpiricalDistribution {
 public:
  /// No weights: all are equal. Weights need not sum to 1; numbers of weight 0 are left out. Throws
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

  /// Numbers in rising order.
  std::span<const double> values() const { return values_; }

 private:
  std::vector<double> values_;
  /// Share of the weight at or below each number; empty if all weights are equal.
  std::vector<double> cumulative_;
  double effective_count_ = 0;
  bool has_nan_ = false;
};
}  // namespace rehmc
