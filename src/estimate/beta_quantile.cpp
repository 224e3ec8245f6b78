// The inverse of the beta distribution function, for the uncertainty of a quantile.
#include <cmath>
#include <limits>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"

namespace rehmc {

namespace {

/// The logarithm of x^a (1 - x)^b / B(a, b).
double log_power(double x, double a, double b) {
  return a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) -
         std::lgamma(b);
}

/// The regularised incomplete beta function, by the continued fraction of DLMF 8.17.22 (modified
/// Lentz).
double beta_distribution(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_distribution(1 - x, b, a);
  constexpr double tiny =
      std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  double numerator = 1;
  double denominator = 0;
  double fraction = 1;
  const auto step = [&](double coefficient) {
    denominator = 1 + coefficient * denominator;
    numerator = 1 + coefficient / numerator;
    if (denominator == 0) denominator = tiny;
    if (numerator == 0) numerator = tiny;
    denominator = 1 / denominator;
    const double factor = numerator * denominator;
    fraction *= factor;
    return std::abs(factor - 1) < 4 * std::numeric_limits<double>::epsilon();
  };
  step(-(a + b) * x / (a + 1));
  // About sqrt(max(a, b)) steps are needed, and far fewer than this.
  for (double m = 1; m < 1e6; ++m) {
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    if (step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)))) break;
  }
  return std::exp(log_power(x, a, b)) / (a * fraction);
}

}  // namespace

double beta_quantile(double p, double a, double b) {
  const double mean = a / (a + b);
  const double sd = std::sqrt(mean * (1 - mean) / (a + b + 1));
  double low = 0;
  double high = 1;
  double x = mean + sd * normal_quantile(p);
  // Newton's method, with bisection whenever it would leave the bracket.
  for (int i = 0; i < 100; ++i) {
    if (!(x > low && x < high)) x = (low + high) / 2;
    const double error = beta_distribution(x, a, b) - p;
    (error > 0 ? high : low) = x;
    const double density = std::exp(log_power(x, a, b)) / (x * (1 - x));
    const double change = error / density;
    x -= change;
    if (std::abs(change) < 1e-15 || high - low < 1e-16) break;
  }
  return x;
}

}  // namespace rehmc
