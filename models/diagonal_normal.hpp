// A normal with independent coordinates of given standard deviations and mean zero.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "models/aligned_vector.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

/// Independent normal coordinates with mean zero.
class DiagonalNormal {
 public:
  /// DataError for no standard deviations, or one that is not positive and finite.
  explicit DiagonalNormal(std::span<const double> standard_deviations);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return scales_->precisions.size(); }

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const;
  double mean(std::size_t /*coordinate*/) const { return 0; }
  double variance(std::size_t coordinate) const;
  /// P(x_i <= value).
  double cumulative(std::size_t coordinate, double value) const;

 private:
  struct Scales {
    AlignedVector precisions;
    AlignedVector standard_deviations;
  };
  std::shared_ptr<const Scales> scales_;
};

}  // namespace rehmc
