// Evaluates a log density on all points of a grid and sums over all axes but one.
#include "grid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rehmc/core/numerics.hpp"

namespace rehmc::bench {

Grid::Grid(std::vector<Axis> axes, const Function& log_density) : axes_(std::move(axes)) {
  std::size_t size = 1;
  for (const Axis& axis : axes_) size *= axis.points;
  weights_.resize(size);
  for (std::size_t i = 0; i < size; ++i) weights_[i] = log_density(point(i));
  const double log_sum = log_sum_exp(weights_);
  for (double& weight : weights_) weight = std::exp(weight - log_sum);
}

std::size_t Grid::index_along(std::size_t point, std::size_t k) const {
  for (std::size_t later = axes_.size() - 1; later > k; --later) point /= axes_[later].points;
  return point % axes_[k].points;
}

std::vector<double> Grid::point(std::size_t index) const {
  std::vector<double> x(axes_.size());
  for (std::size_t k = 0; k < axes_.size(); ++k) x[k] = axes_[k].at(index_along(index, k));
  return x;
}

std::vector<double> Grid::log_sums(std::size_t k) const {
  std::vector<double> sums(axes_[k].points);
  for (std::size_t i = 0; i < size(); ++i) sums[index_along(i, k)] += weights_[i];
  for (double& sum : sums) sum = std::log(std::max(sum, 1e-300));
  return sums;
}

std::vector<Axis> Grid::fitted(std::vector<Axis> axes, const Function& log_density) {
  constexpr double negligible = 34;  // in logarithms
  constexpr std::size_t rough = 24;
  std::vector<std::size_t> wanted;
  for (const Axis& axis : axes) wanted.push_back(axis.points);
  for (int round = 0; round < 3; ++round) {
    for (Axis& axis : axes) axis.points = rough;
    const Grid grid(axes, log_density);
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::vector<double> sums = grid.log_sums(k);
      const double least = *std::max_element(sums.begin(), sums.end()) - negligible;
      std::size_t first = 0;
      std::size_t last = rough - 1;
      while (sums[first + 1] < least) ++first;
      while (sums[last - 1] < least) --last;
      axes[k] = {grid.axes_[k].at(first), grid.axes_[k].at(last), rough};
    }
  }
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k].points = wanted[k];
  return axes;
}

}  // namespace rehmc::bench
