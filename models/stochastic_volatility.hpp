// A stochastic volatility model of daily returns, whose smoothness is integrated out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/aligned_vector.hpp"

namespace rehmc {

/// log(y_i / y_{i-1}) ~ N(0, s_i^2) for closes y_0, ..., y_n; 100 log(s_i / s_{i-1}) ~ N(0, 1/tau);
/// s_0 ~ exponential with mean 1/10, tau ~ gamma(1/2, 1/2), 1/2 being the rate: the third test case
/// of Nishimura and Dunson (2020). Sampled as x = log s, with d = n + 1, one coordinate per close.
///
/// Given S = 100^2 sum_{i>=1} (x_i - x_{i-1})^2, tau occurs in its prior and in n normals of
/// variance 1/tau: tau^{-1/2} exp(-tau/2) tau^{n/2} exp(-tau S / 2), whose integral over tau > 0 is
/// Gamma((n + 1)/2) ((1 + S)/2)^{-(n + 1)/2}. Hence, with returns r_i and up to a constant,
///
///   l(x) = sum_{i>=1} (-x_i - r_i^2 exp(-2 x_i) / 2) - (n + 1)/2 log(1 + S) + x_0 - 10 exp(x_0),
///
/// where the lone x_0 is the Jacobian of s_0; the other s_i need none, since their distribution is
/// given on the scale of x. A return of zero would make the density grow without bound as s_i
/// falls. At constant x the density has a narrow peak with little mass: do not start chains there.
class StochasticVolatility {
 public:
  /// DataError for no returns, or returns that are zero or not finite.
  explicit StochasticVolatility(std::span<const double> returns);

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return square_returns_->size(); }
  std::vector<std::string> names() const;  ///< log_s.1, ..., one per close

 private:
  /// r_i^2; the first is zero, since no return belongs to the first close.
  std::shared_ptr<const AlignedVector> square_returns_;
};

/// The returns log(y_i / y_{i-1}). DataError for fewer than two closes, closes that are not
/// positive and finite, or two equal ones in sequence.
std::vector<double> returns_of_closes(std::span<const double> closes);

/// Which returns to simulate.
struct VolatilitySimulation {
  std::size_t days = 3000;  ///< counts the first close too
  std::uint64_t seed = 1;
};

/// Returns of an index: log s_i - log 0.01 is autoregressive with coefficient 0.98 and innovations
/// of standard deviation 0.1. (The model's own random walk would drift away.) ConfigError for fewer
/// than two days.
std::vector<double> simulate_returns(const VolatilitySimulation& simulation);

}  // namespace rehmc
