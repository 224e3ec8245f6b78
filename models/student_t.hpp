// Independent Student-t coordinates: heavy tails.
#pragma once

#include <cstddef>
#include <span>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// Independent coordinates, each Student-t with the given degrees of freedom.
class StudentT {
 public:
  /// ConfigError for dimension 0, or degrees of freedom that are not positive and finite.
  StudentT(std::size_t dimension, double degrees_of_freedom);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return dimension_; }

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const;
  double mean(std::size_t coordinate) const;      ///< NaN where it does not exist
  double variance(std::size_t coordinate) const;  ///< infinite or NaN where it does not exist
  /// P(x_i <= value) by numerical integration; for at least one degree of freedom.
  double cumulative(std::size_t coordinate, double value) const;

 private:
  std::size_t dimension_;
  double degrees_of_freedom_;
};

}  // namespace rehmc
