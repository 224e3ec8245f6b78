// Gaussian kernel densities by linear binning: fast, and accurate enough for plots.
#include "density_curve.hpp"

#include <algorithm>
#include <boost/sort/spreadsort/float_sort.hpp>
#include <cmath>
#include <numbers>

#include "rehmc/estimate/chain_table.hpp"

namespace rehmc {

namespace {

/// Silverman's rule of thumb (1986, section 3.4.2), on the smaller of two measures of spread.
double rule_of_thumb(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  const double sd = std::sqrt(squares_about(sorted, mean_of(sorted)) / n);
  const double quartiles =
      (quantile_of_sorted(sorted, 0.75) - quantile_of_sorted(sorted, 0.25)) / 1.34;
  return 0.9 * (quartiles > 0 ? std::min(sd, quartiles) : sd) * std::pow(n, -0.2);
}

/// The share of the total weight at each point of the grid.
std::vector<double> binned(const DensityGrid& grid, std::span<const double> values,
                           std::span<const double> weights) {
  std::vector<double> bins(grid.points, 0.0);
  const double per_unit = static_cast<double>(grid.points - 1) / (grid.most - grid.least);
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double weight = weights.empty() ? 1 : weights[i];
    total += weight;
    const double place = (values[i] - grid.least) * per_unit;
    if (!(place >= 0) || place >= static_cast<double>(grid.points - 1)) continue;
    const auto bin = static_cast<std::size_t>(place);
    const double right = place - std::floor(place);
    bins[bin] += weight * (1 - right);
    bins[bin + 1] += weight * right;
  }
  if (total > 0) {
    for (double& bin : bins) bin /= total;
  }
  return bins;
}

}  // namespace

std::optional<DensityGrid> density_grid(std::vector<double> values, std::size_t points) {
  std::erase_if(values, [](double x) { return !std::isfinite(x); });
  if (values.size() < 2) return std::nullopt;
  boost::sort::spreadsort::float_sort(values.begin(), values.end());
  const double bandwidth = rule_of_thumb(values);
  const double low = quantile_of_sorted(values, 0.005);
  const double high = quantile_of_sorted(values, 0.995);
  const double margin = 0.15 * (high - low);
  const DensityGrid grid{std::max(values.front(), low - margin) - 3 * bandwidth,
                         std::min(values.back(), high + margin) + 3 * bandwidth, points, bandwidth};
  // No density if values are so close or so large that the grid has no width in floating point.
  if (!(bandwidth > 0) || !std::isfinite(grid.most - grid.least)) return std::nullopt;
  if (!(grid.most - grid.least > 1e-12 * std::max(std::abs(grid.least), std::abs(grid.most)))) {
    return std::nullopt;
  }
  return grid;
}

std::vector<double> density_curve(const DensityGrid& grid, std::span<const double> values,
                                  std::span<const double> weights) {
  const std::vector<double> bins = binned(grid, values, weights);
  const double spacing = (grid.most - grid.least) / static_cast<double>(grid.points - 1);
  // A bandwidth below the spacing would show the grid instead of the density.
  const double bandwidth = std::max(grid.bandwidth, 0.7 * spacing);
  std::vector<double> kernel(grid.points);
  for (std::size_t k = 0; k < grid.points; ++k) {
    const double z = static_cast<double>(k) * spacing / bandwidth;
    kernel[k] = std::exp(-0.5 * z * z) / (bandwidth * std::sqrt(2 * std::numbers::pi));
  }
  std::vector<double> curve(grid.points, 0.0);
  for (std::size_t i = 0; i < grid.points; ++i) {
    for (std::size_t j = 0; j < grid.points; ++j) {
      curve[i] += bins[j] * kernel[i < j ? j - i : i - j];
    }
  }
  return curve;
}

}  // namespace rehmc
