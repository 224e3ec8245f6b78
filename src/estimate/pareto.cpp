// Fits a generalised Pareto law to a tail (Zhang & Stephens 2009, Technometrics 51).
#include "rehmc/estimate/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace rehmc {

namespace {

/// Mean of log(1 + rate * x): the shape that goes best with this rate. Of several at once, since
/// products are faster than logarithms, unless they leave the range of numbers.
double profile_shape(std::span<const double> excesses, double rate) {
  constexpr std::size_t at_once = 8;
  double sum = 0;
  for (std::size_t begin = 0; begin < excesses.size(); begin += at_once) {
    double product = 1;
    const auto some = excesses.subspan(begin, std::min(at_once, excesses.size() - begin));
    for (const double x : some) product *= 1 + rate * x;
    if (std::isfinite(product)) {
      sum += std::log(product);
    } else {
      for (const double x : some) sum += std::log1p(rate * x);
    }
  }
  return sum / static_cast<double>(excesses.size());
}

/// Of the lower quartile among n values in rising order: the floor(n/4 + 1/2)-th of them.
std::size_t place_of_quartile(std::size_t n) { return (n + 2) / 4 - 1; }

}  // namespace

/// The posterior mean of the rate on a grid, from the profile likelihood and a prior that the lower
/// quartile sets.
ParetoFit fit_pareto(std::span<const double> excesses, std::size_t fewest_points) {
  const auto n = static_cast<double>(excesses.size());
  const double largest = excesses.back();
  const double quartile = excesses[place_of_quartile(excesses.size())];
  const std::size_t points = fewest_points + static_cast<std::size_t>(std::sqrt(n));
  std::vector<double> rates(points);
  std::vector<double> log_likelihoods(points);
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < points; ++j) {
    const double step = std::sqrt(static_cast<double>(points) / (static_cast<double>(j) + 0.5));
    rates[j] = -(1 / largest + (1 - step) / (3 * quartile));
    const double shape = profile_shape(excesses, rates[j]);
    log_likelihoods[j] = n * (std::log(rates[j] / shape) - shape - 1);
    if (std::isfinite(log_likelihoods[j])) most = std::max(most, log_likelihoods[j]);
  }
  double total = 0;
  double rate = 0;
  for (std::size_t j = 0; j < points; ++j) {
    if (!std::isfinite(log_likelihoods[j])) continue;
    const double weight = std::exp(log_likelihoods[j] - most);
    total += weight;
    rate += weight * rates[j];
  }
  const double shape = profile_shape(excesses, rate / total);
  return {shape, shape / (rate / total)};
}

double tail_shape(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  // Vehtari et al. (2024), "Pareto smoothed importance sampling": how much of a sample is tail.
  const auto tail = static_cast<std::size_t>(std::min(0.2 * n, 3 * std::sqrt(n)));
  if (tail < 5) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> largest(values.begin(), values.end());
  const auto cut = largest.begin() + static_cast<std::ptrdiff_t>(tail);
  std::nth_element(largest.begin(), cut, largest.end(), std::greater<>());
  const double threshold = *cut;
  largest.resize(tail);
  std::sort(largest.begin(), largest.end());
  for (double& value : largest) value -= threshold;
  if (!(largest[place_of_quartile(tail)] > 0)) return -std::numeric_limits<double>::infinity();
  constexpr std::size_t fewest_points = 20;
  return fit_pareto(largest, fewest_points).shape;
}

}  // namespace rehmc
