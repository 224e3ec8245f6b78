// A normal with a dense covariance and mean zero.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// A multivariate normal with mean zero; for a random covariance see wishart.hpp.
class CorrelatedNormal {
 public:
  /// The covariance, row by row. DataError if its size is not a square or it is not finite,
  /// symmetric and positive definite.
  explicit CorrelatedNormal(std::span<const double> covariance);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const;

  /// Row by row.
  std::span<const double> covariance() const;

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const;
  double mean(std::size_t /*coordinate*/) const { return 0; }
  double variance(std::size_t coordinate) const;
  /// P(x_i <= value).
  double cumulative(std::size_t coordinate, double value) const;

 private:
  struct Matrices;
  std::shared_ptr<const Matrices> matrices_;
};

}  // namespace rehmc
