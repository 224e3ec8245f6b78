// Sums, logarithms of sums and the normal distribution, accurate for infinities and in the tails.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace rehmc {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// The middle number, or the mean of the two middle ones; NaN without numbers, or if one is NaN.
double median(std::vector<double> values);

/// log(sum of exp(values)) without overflow: -inf for no values, infinities give the limit, NaN
/// anywhere gives NaN.
double log_sum_exp(std::span<const double> values) noexcept;

/// A running sum whose rounding error does not grow with the number of terms: the lost low parts
/// are summed separately (Neumaier 1974, algorithm IV). Infinite terms give what a plain sum gives.
class CompensatedSum {
 public:
  void add(double term) noexcept {
    const double total = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - total) + term : (term - total) + sum_;
    sum_ = total;
  }

  /// If the sum is infinite or NaN, the separate part is NaN and means nothing.
  double value() const noexcept { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// P(Z <= x) for a standard normal Z. Relative error below 1e-15 for x >= -1, growing like x^2 in
/// the lower tail to 4e-13 at x = -37.
double normal_cdf(double x) noexcept;

/// The x with normal_cdf(x) = p, relative error about 1e-15. -inf at 0, +inf at 1, NaN outside [0,
/// 1].
double normal_quantile(double p) noexcept;

}  // namespace rehmc
