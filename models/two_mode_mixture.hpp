// Two equal normal modes a given distance apart.
#pragma once

#include <cstddef>
#include <span>

#include "rehmc/core/random.hpp"

namespace rehmc {

struct TwoModeSettings {
  std::size_t dimension = 2;
  double distance = 4;  ///< between the two means, in standard deviations
};

/// x ~ N(-m/2 e_1, I) or N(m/2 e_1, I), each with probability 1/2, where m is the distance: up to a
/// constant the density is exp(-|x|^2 / 2) cosh(m x_1 / 2). HMC cannot move between modes that are
/// far apart, which R-hat of many chains can detect.
class TwoModeMixture {
 public:
  /// ConfigError for dimension 0, or a distance that is negative or above 1000.
  explicit TwoModeMixture(const TwoModeSettings& settings = {});

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return dimension_; }

  /// An exact draw.
  void sample(Stream& stream, std::span<double> x) const;
  double mean(std::size_t /*coordinate*/) const { return 0; }
  double variance(std::size_t coordinate) const;
  double cumulative(std::size_t coordinate, double value) const;

 private:
  std::size_t dimension_;
  double half_distance_;
};

}  // namespace rehmc
