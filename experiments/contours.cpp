// Contour lines by marching squares: crossings on the edges of the grid, joined cell by cell.
#include "experiments/contours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc::experiments {
namespace {

/// The heights as a matrix over sorted coordinates.
struct Matrix {
  std::vector<double> xs;
  std::vector<double> ys;
  std::vector<double> heights;  ///< row by row, y by y

  double at(std::size_t i, std::size_t j) const { return heights[j * xs.size() + i]; }
};

std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Matrix matrix_of(const Grid& grid) {
  Matrix matrix{distinct(grid.x), distinct(grid.y), {}};
  const std::size_t points = matrix.xs.size() * matrix.ys.size();
  if (points != grid.height.size() || matrix.xs.size() < 2 || matrix.ys.size() < 2) {
    throw DataError(fmt::format(
        "the density for contours has {} points, but {} x and {} y coordinates; expected one point "
        "for each pair of them, and two coordinates at least",
        grid.height.size(), matrix.xs.size(), matrix.ys.size()));
  }
  matrix.heights.resize(points);
  const auto index = [](const std::vector<double>& sorted, double value) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                    sorted.begin());
  };
  for (std::size_t i = 0; i < points; ++i) {
    matrix.heights[index(matrix.ys, grid.y[i]) * matrix.xs.size() + index(matrix.xs, grid.x[i])] =
        grid.height[i];
  }
  return matrix;
}

/// The height above which the given share of the mass lies.
double level_of(std::vector<double> heights, double share) {
  std::sort(heights.rbegin(), heights.rend());
  double total = 0.0;
  for (const double height : heights) total += height;
  double sum = 0.0;
  for (const double height : heights) {
    sum += height;
    if (sum >= share * total) return height;
  }
  return heights.back();
}

/// An edge of the grid: from point (i, j) to the right, or upwards.
struct Edge {
  std::size_t i;
  std::size_t j;
  bool upwards;
  auto operator<=>(const Edge&) const = default;
};

class Tracer {
 public:
  Tracer(const Matrix& matrix, double level) : matrix_(matrix), level_(level) {
    for (std::size_t j = 0; j + 1 < matrix.ys.size(); ++j) {
      for (std::size_t i = 0; i + 1 < matrix.xs.size(); ++i) add_cell(i, j);
    }
  }

  std::vector<std::vector<Point>> lines() {
    std::vector<std::vector<Point>> lines;
    // Lines that leave the grid begin at its border; all others are closed.
    for (const bool open : {true, false}) {
      for (auto& [edge, neighbours] : links_) {
        if (!neighbours.empty() && (!open || neighbours.size() == 1)) lines.push_back(follow(edge));
      }
    }
    return lines;
  }

 private:
  void add_cell(std::size_t i, std::size_t j) {
    const std::array<Edge, 4> edges{Edge{i, j, false}, Edge{i + 1, j, true}, Edge{i, j + 1, false},
                                    Edge{i, j, true}};
    std::vector<Edge> crossed;
    for (const Edge& edge : edges) {
      if (is_crossed(edge)) crossed.push_back(edge);
    }
    // Four crossings are a saddle; either way of joining them is a contour.
    for (std::size_t k = 0; k + 1 < crossed.size(); k += 2) {
      links_[crossed[k]].push_back(crossed[k + 1]);
      links_[crossed[k + 1]].push_back(crossed[k]);
    }
  }

  double end_height(const Edge& edge) const {
    return edge.upwards ? matrix_.at(edge.i, edge.j + 1) : matrix_.at(edge.i + 1, edge.j);
  }
  bool is_crossed(const Edge& edge) const {
    return (matrix_.at(edge.i, edge.j) >= level_) != (end_height(edge) >= level_);
  }

  Point point_on(const Edge& edge) const {
    const double start = matrix_.at(edge.i, edge.j);
    const double share = (level_ - start) / (end_height(edge) - start);
    const double x = matrix_.xs[edge.i];
    const double y = matrix_.ys[edge.j];
    if (edge.upwards) return {x, y + share * (matrix_.ys[edge.j + 1] - y)};
    return {x + share * (matrix_.xs[edge.i + 1] - x), y};
  }

  /// Walks along the links and takes them away.
  std::vector<Point> follow(Edge edge) {
    std::vector<Point> line{point_on(edge)};
    while (!links_[edge].empty()) {
      const Edge next = links_[edge].back();
      links_[edge].pop_back();
      std::vector<Edge>& back = links_[next];
      back.erase(std::find(back.begin(), back.end(), edge));
      line.push_back(point_on(next));
      edge = next;
    }
    return line;
  }

  const Matrix& matrix_;
  double level_;
  std::map<Edge, std::vector<Edge>> links_;
};

}  // namespace

std::vector<std::vector<Point>> highest_density_contours(const Grid& grid,
                                                         const std::vector<double>& shares) {
  const Matrix matrix = matrix_of(grid);
  std::vector<std::vector<Point>> all;
  for (const double share : shares) {
    for (std::vector<Point>& line : Tracer(matrix, level_of(matrix.heights, share)).lines()) {
      all.push_back(std::move(line));
    }
  }
  return all;
}

}  // namespace rehmc::experiments
