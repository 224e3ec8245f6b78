// Smooth densities of weighted numbers, for plots.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rehmc {

/// Evenly spaced places to look at a density, and how far it is smoothed.
struct DensityGrid {
  double least = 0;
  double most = 0;
  std::size_t points = 0;
  double bandwidth = 0;
};

/// A grid for these numbers: it holds all but the farthest tails, so that an outlier does not
/// flatten the plot. None if fewer than two of them are finite, or all of those are alike.
std::optional<DensityGrid> density_grid(std::vector<double> values, std::size_t points);

/// A Gaussian kernel density estimate on the grid. No weights: all alike. What is not finite is
/// left out.
std::vector<double> density_curve(const DensityGrid& grid, std::span<const double> values,
                                  std::span<const double> weights = {});

}  // namespace rehmc
