// Private to sharpen/: how much farther than the extremes of a run its tails may reach.
#pragma once

#include <vector>

#include "rehmc/estimate/rare_events.hpp"
#include "scalar_target.hpp"

namespace rehmc::stein {

/// The mean square of an excursion beyond the largest seen, over the square of that one.
struct TailGrowth {
  double of_mean = usual_growth;    ///< of y, in units of the scalar's sd, about its mean
  double of_square = usual_growth;  ///< of y^2
};

/// The derivative of the log density of coordinate i alone is the mean of (C g)_i / C_ii given the
/// coordinate, for any C: to move along C e_i instead of e_i is a shear, which does not change the
/// marginal. So gradients at the extremes tell how fast the density falls beyond them. It is taken
/// to fall exponentially, over a length that is the mean over the extremes of a side; then
/// excursions are of y = z + e with an exponential e. No length exceeds the distance from the mean:
/// what falls even more slowly looks like a power law, of which nothing can be said.
///
/// `states`: the own coordinate by fold; empty for a function of many coordinates, whose tails are
/// not known.
TailGrowth tail_growth(const Run& run, const ScalarTarget& target,
                       const std::vector<CoordinateStates>& states);

}  // namespace rehmc::stein
