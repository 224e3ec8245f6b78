// Targets whose means, sds and quantiles are known exactly, to judge estimates and their errors by.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "marginal.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::bench {

/// A density that reports its coordinates, and what is known of every coordinate.
struct ExactTarget {
  Density density;
  std::vector<ExactValues> truth;
};

struct NamedTarget {
  std::string label;
  std::size_t coordinates;
  /// With the number of points of the quadrature multiplied by this, at most 1: its error shows as
  /// the difference.
  std::function<ExactTarget(double fineness)> make;
};

const std::vector<NamedTarget>& exact_targets();

/// That many points, times fineness.
inline std::size_t points_of(std::size_t points, double fineness) {
  return static_cast<std::size_t>(static_cast<double>(points) * fineness);
}

/// Checks the gradients against finite differences, and the truth against coarser quadrature;
/// throws if something is off. Returns the largest difference of the truths, in sds.
double check_target(const NamedTarget& target, const ExactTarget& made);

}  // namespace rehmc::bench
