// Kernel density estimates of weighted values, for plots.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rehmc {

/// Evenly spaced points at which a density is estimated, and its bandwidth.
struct DensityGrid {
  double least = 0;
  double most = 0;
  std::size_t points = 0;
  double bandwidth = 0;
};

/// A grid for these values, without the extreme tails, so that an outlier does not flatten the
/// plot. None if fewer than two values are finite, or all finite values are equal.
std::optional<DensityGrid> density_grid(std::vector<double> values, std::size_t points);

/// A Gaussian kernel density estimate on the grid. Without weights, all values count equally.
/// Values that are not finite are ignored.
std::vector<double> density_curve(const DensityGrid& grid, std::span<const double> values,
                                  std::span<const double> weights = {});

}  // namespace rehmc
