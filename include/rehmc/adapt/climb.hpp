// The climb that finds starts, for its own sake: to a top, or to a normal approximation on the way.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rehmc/core/low_rank.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {

struct Top {
  std::vector<double> position;
  double log_density = 0;
  bool arrived = false;  ///< whether nothing higher is near
};

/// Climbs by L-BFGS from a usable point until the density rises no more than rounding allows.
Top find_top(Guard& guard, std::span<const double> from);

struct NormalApproximation {
  std::vector<double> centre;
  DiagonalPlusLowRank covariance;
};

/// The normal distribution with the greatest ELBO on a climb from a usable point (Pathfinder;
/// Zhang, Carpenter, Gelman, Vehtari 2022). None if the climb finds no top.
std::optional<NormalApproximation> find_approximation(Guard& guard, std::span<const double> from,
                                                      const Address& address);

}  // namespace rehmc
