// Means, variances and covariances of weighted vectors in one pass, mergeable across chains.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehmc {

// Weights are importance weights: only their ratios matter, and the divisor of a variance is the
// sum of the weights (the population form). Weights of one trajectory sum to 1, so the sum of
// weights is the number of draws n; whoever wants the divisor n - 1 multiplies by n / (n - 1).
//
// Both classes keep the mean and the sums of squares about it (West 1979; Chan, Golub, LeVeque
// 1983), so that nothing cancels when the mean is large against the standard deviation. A weight of
// 0 changes nothing. All members that take a weight throw DataError unless it is finite and not
// negative, and for vectors of the wrong length. NaN in a vector stays in its coordinates.

/// Weighted sums of (x - centre), as trajectories deliver them. They are exact enough if the centre
/// lies in the bulk of the target.
struct ShiftedSums {
  double weight = 0;
  std::span<const double> centre;
  /// sum w (x - centre)
  std::span<const double> first;
  /// sum w (x - centre)^2; for a covariance the lower triangle of the products, row by row
  std::span<const double> second;
};

/// Mean and variance of every coordinate.
class WeightedMoments {
 public:
  explicit WeightedMoments(std::size_t dimension);

  void add(double weight, std::span<const double> x);
  void add(const ShiftedSums& sums);
  void merge(const WeightedMoments& other);
  void clear();

  std::size_t dimension() const { return mean_.size(); }
  double weight() const { return weight_; }
  /// Zero before anything has been added.
  std::span<const double> mean() const { return mean_; }
  /// Population form; NaN before anything has been added.
  double variance(std::size_t coordinate) const { return squares_[coordinate] / weight_; }
  std::vector<double> variance() const;

 private:
  double weight_ = 0;
  std::vector<double> mean_;
  std::vector<double> squares_;  ///< sum w (x - mean)^2
};

/// Mean and full covariance matrix.
class WeightedCovariance {
 public:
  explicit WeightedCovariance(std::size_t dimension);

  void add(double weight, std::span<const double> x);
  void add(const ShiftedSums& sums);
  void merge(const WeightedCovariance& other);
  void clear();

  std::size_t dimension() const { return mean_.size(); }
  double weight() const { return weight_; }
  /// Zero before anything has been added.
  std::span<const double> mean() const { return mean_; }
  /// Population form; NaN before anything has been added.
  double covariance(std::size_t row, std::size_t column) const {
    const std::size_t low = row < column ? row : column;
    const std::size_t high = row < column ? column : row;
    return products_[high * (high + 1) / 2 + low] / weight_;
  }
  /// The whole symmetric matrix, dimension x dimension numbers.
  std::vector<double> covariance() const;

 private:
  /// Adds factor * difference difference' to the products.
  void add_outer(double factor);

  double weight_ = 0;
  std::vector<double> mean_;
  std::vector<double> products_;    ///< lower triangle of sum w (x - mean)(x - mean)', row by row
  std::vector<double> difference_;  ///< scratch
};

}  // namespace rehmc
