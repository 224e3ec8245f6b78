// What features leave of excursions that a run has not seen, judging by the mass of its tails.
#include "tail_mass.hpp"

#include <algorithm>

namespace rehmc::stein {

namespace {

// Larger parts make error bars of runs that have missed a tail more honest, and those of light
// tails too large. These are a compromise, measured on posteriors whose truth is known
// (docs/sharpening-theory.md).
constexpr double part_of_mean = 0.15;
constexpr double part_of_square = 0.5;
constexpr double few_draws = 400;

}  // namespace

LeastLeft least_left(double mass_left, std::size_t draws) {
  const double share =
      std::clamp(mass_left, 0.0, 1.0) * std::min(1.0, few_draws / static_cast<double>(draws));
  return {part_of_mean * share, part_of_square * share};
}

}  // namespace rehmc::stein
