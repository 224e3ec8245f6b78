// A log density on a grid in a few dimensions: weights of its points, and marginal distributions.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "marginal.hpp"

namespace rehmc::bench {

/// Equidistant points.
struct Axis {
  double low = 0;
  double high = 1;
  std::size_t points = 2;

  double step() const { return (high - low) / static_cast<double>(points - 1); }
  double at(std::size_t i) const { return low + step() * static_cast<double>(i); }
};

class Grid {
 public:
  using Function = std::function<double(std::span<const double>)>;

  /// The last coordinate changes fastest.
  Grid(std::vector<Axis> axes, const Function& log_density);

  std::size_t size() const { return weights_.size(); }
  /// Sums to 1 over all points.
  double weight(std::size_t point) const { return weights_[point]; }
  std::vector<double> point(std::size_t index) const;
  const Axis& axis(std::size_t k) const { return axes_[k]; }
  Marginal marginal(std::size_t k) const { return {axes_[k].low, axes_[k].step(), log_sums(k)}; }

  /// Axes that are just long enough, found within these by rough grids.
  static std::vector<Axis> fitted(std::vector<Axis> axes, const Function& log_density);

 private:
  std::vector<double> log_sums(std::size_t k) const;
  std::size_t index_along(std::size_t point, std::size_t k) const;

  std::vector<Axis> axes_;
  std::vector<double> weights_;
};

}  // namespace rehmc::bench
