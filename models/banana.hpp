// The banana of the paper's figure 1: two normals, given a noisy observation of a curved sum.
#pragma once

#include <cstddef>
#include <span>

#include "rehmc/core/random.hpp"

namespace rehmc {

/// x_1, x_2 ~ N(0, 1) and y | x ~ N(x_1 + x_2^2, 0.4^2) with y observed. The paper gives no value
/// of y; the default is ours.
class Banana {
 public:
  /// ConfigError for y that is not finite.
  explicit Banana(double y = 1);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return 2; }

  /// An exact draw, by rejection.
  void sample(Stream& stream, std::span<double> x) const;
  /// Moments and P(x_i <= value) by numerical integration, exact to about ten digits.
  double mean(std::size_t coordinate) const;
  double variance(std::size_t coordinate) const;
  double cumulative(std::size_t coordinate, double value) const;

 private:
  double marginal(double x2) const;
  template <class Function>
  double expectation(Function&& function) const;

  double y_;
  double centre_;  ///< of x_2^2 in its marginal density
  double mode_;    ///< of the acceptance ratio of the exact sampler, in x_2^2
};

}  // namespace rehmc
