// Contour lines of a density that is known on a grid.
#pragma once

#include <vector>

#include "experiments/canvas.hpp"

namespace rehmc::experiments {

/// Values at all points of a rectangular grid, in any order; heights are not negative.
struct Grid {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> height;
};

/// The lines around the smallest regions that hold the given shares of the mass. DataError if the
/// points are no full grid.
std::vector<std::vector<Point>> highest_density_contours(const Grid& grid,
                                                         const std::vector<double>& shares);

}  // namespace rehmc::experiments
