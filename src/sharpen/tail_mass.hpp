// Private to sharpen/: how much of an excursion that a run has not seen features leave at least.
#pragma once

#include <cstddef>

namespace rehmc::stein {

/// The least share of the mean square of an excursion beyond the extremes that features leave.
struct LeastLeft {
  double of_mean = 0;    ///< of y, the scalar in units of its sd
  double of_square = 0;  ///< of y^2
};

/// Features fitted to the excursions that a run has seen say little of those that it has not: a
/// short run that missed a tail explains its moments best. Of the mass of a tail, the share of
/// draws beyond an outer quantile, nearly every run knows how much features explain, since it is
/// bounded and many draws carry it. `mass_left`: the share of its squared error that they leave, on
/// the worse side. Of an unseen excursion they leave a part of that, measured over nine posteriors;
/// the more draws there are, the more the excursions seen say themselves.
LeastLeft least_left(double mass_left, std::size_t draws);

}  // namespace rehmc::stein
