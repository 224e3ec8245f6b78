// Logarithms of sums, and the normal distribution function with its inverse.
#include "rehmc/core/numerics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numbers>

namespace rehmc {
namespace {

/// numerator(x) / denominator(x), coefficients from the constant term up.
double rational(const std::array<double, 8>& numerator, const std::array<double, 8>& denominator,
                double x) {
  double above = 0;
  double below = 0;
  for (std::size_t i = numerator.size(); i-- > 0;) {
    above = above * x + numerator[i];
    below = below * x + denominator[i];
  }
  return above / below;
}

}  // namespace

double log_sum_exp(std::span<const double> values) noexcept {
  std::size_t top = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return values[i];
    if (values[i] > values[top]) top = i;
  }
  if (values.empty()) return -infinity;
  if (std::isinf(values[top])) return values[top];
  // The largest term is exactly 1 and is kept out of the sum, so that small terms are not lost to
  // rounding.
  CompensatedSum others;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != top) others.add(std::exp(values[i] - values[top]));
  }
  return values[top] + std::log1p(others.value());
}

double median(std::vector<double> values) {
  if (values.empty() ||
      std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) {
    return nan_value;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double normal_cdf(double x) noexcept { return 0.5 * std::erfc(-x * (std::numbers::sqrt2 / 2)); }

// Wichura 1988, algorithm AS 241, routine PPND16: rational functions on the middle, the shoulder
// and the far tail.
double normal_quantile(double p) noexcept {
  if (!(p >= 0 && p <= 1)) return nan_value;
  if (p == 0) return -infinity;
  if (p == 1) return infinity;

  const double centred = p - 0.5;
  if (std::abs(centred) <= 0.425) {
    constexpr std::array<double, 8> a{3.3871328727963666080,   1.3314166789178437745e2,
                                      1.9715909503065514427e3, 1.3731693765509461125e4,
                                      4.5921953931549871457e4, 6.7265770927008700853e4,
                                      3.3430575583588128105e4, 2.5090809287301226727e3};
    constexpr std::array<double, 8> b{1.0,
                                      4.2313330701600911252e1,
                                      6.8718700749205790830e2,
                                      5.3941960214247511077e3,
                                      2.1213794301586595867e4,
                                      3.9307895800092710610e4,
                                      2.8729085735721942674e4,
                                      5.2264952788528545610e3};
    return centred * rational(a, b, 0.180625 - centred * centred);
  }

  const double tail = std::sqrt(-std::log(centred < 0 ? p : 1 - p));
  double x;
  if (tail <= 5) {
    constexpr std::array<double, 8> c{1.42343711074968357734,    4.63033784615654529590,
                                      5.76949722146069140550,    3.64784832476320460504,
                                      1.27045825245236838258,    2.41780725177450611770e-1,
                                      2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr std::array<double, 8> d{1.0,
                                      2.05319162663775882187,
                                      1.67638483018380384940,
                                      6.89767334985100004550e-1,
                                      1.48103976427480074590e-1,
                                      1.51986665636164571966e-2,
                                      5.47593808499534494600e-4,
                                      1.05075007164441684324e-9};
    x = rational(c, d, tail - 1.6);
  } else {
    constexpr std::array<double, 8> e{6.65790464350110377720,    5.46378491116411436990,
                                      1.78482653991729133580,    2.96560571828504891230e-1,
                                      2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                      2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr std::array<double, 8> f{1.0,
                                      5.99832206555887937690e-1,
                                      1.36929880922735805310e-1,
                                      1.48753612908506148525e-2,
                                      7.86869131145613259100e-4,
                                      1.84631831751005468180e-5,
                                      1.42151175831644588870e-7,
                                      2.04426310338993978564e-15};
    x = rational(e, f, tail - 5);
  }
  return centred < 0 ? -x : x;
}

}  // namespace rehmc
