// Where a chain starts: at a random point, or on the scale of the posterior, after a climb.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {

enum class StartKind {
  random,      ///< the random point itself
  pathfinder,  ///< a draw from the best normal approximation on a climb from there
};

/// Where a search for a start ended.
struct FoundStart {
  std::vector<double> position;
  std::shared_ptr<const Metric> metric;  ///< nullptr where the search did not help
  std::uint64_t steps = 0;               ///< of the climb
};

/// Climbs by L-BFGS from a usable point, approximates the density by a normal distribution at
/// points of the path, and draws the start from the one with the greatest ELBO: Pathfinder (Zhang,
/// Carpenter, Gelman, Vehtari 2022). A spike without mass thus attracts the climb, but not the
/// start. Where the density hardly varies between `from` and the top, the climb learns nothing
/// about its scale, and the start stays as near as `from`. Returns `from` itself if the climb finds
/// no top, or if no approximation can be used. Calls the density at most most_start_gradients()
/// times.
FoundStart find_start(Guard& guard, std::span<const double> from, const Address& address);

std::uint64_t most_start_gradients(std::size_t dimension);

}  // namespace rehmc
