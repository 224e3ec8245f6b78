// Extrapolates the tails of a scalar from the gradients at its extremes.
#include "tail_growth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rehmc::stein {

namespace {

/// As many extremes of a side are looked at: a single gradient is noisy where coordinates depend on
/// each other.
constexpr std::size_t several = 5;

/// What the tail of one side looks like, in sds of the scalar.
struct Tail {
  double distance = 0;  ///< of the extreme state from the mean
  double length = 0;    ///< over which the density falls by e
};

/// A state, and the draw it belongs to.
struct Extreme {
  Index state = 0;
  Index draw = 0;
};

/// The most extreme states of one side, from different draws. `side`: 1 or -1.
std::vector<Extreme> extremes_of(const StateTable& table, Index coordinate, double side) {
  const double* x = table.positions.col(coordinate).data();
  const auto farther = [&](Index a, Index b) { return side * x[a] > side * x[b]; };
  std::vector<Extreme> found;
  for (Index n = 0; n < to_index(table.draws()); ++n) {
    const Index end = to_index(table.begins[static_cast<std::size_t>(n) + 1]);
    Index most = to_index(table.begins[static_cast<std::size_t>(n)]);
    for (Index s = most + 1; s < end; ++s) most = farther(s, most) ? s : most;
    found.push_back({most, n});
  }
  const std::size_t count = std::min(several, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                    [&](const Extreme& a, const Extreme& b) { return farther(a.state, b.state); });
  found.resize(count);
  return found;
}

Tail tail_of(const Run& run, const ScalarTarget& target,
             const std::vector<CoordinateStates>& states, double side) {
  const Index i = *target.coordinate();
  Tail tail;
  const std::vector<Extreme> extremes = extremes_of(run.table, i, side);
  for (const auto& [s, draw] : extremes) {
    const std::size_t f = run.fold_of(draw);
    const double distance = std::abs(target.values()[s] - target.centre()) / target.scale();
    const double slope = target.carried_over(run.table.positions(s, i)).slope / target.scale();
    const double rate = -side * states[f].u[s] / run.frames[f].scale[i];
    const double length = slope < rate * distance ? slope / rate : distance;
    tail.distance = std::max(tail.distance, distance);
    tail.length += length / static_cast<double>(extremes.size());
  }
  return tail;
}

}  // namespace

TailGrowth tail_growth(const Run& run, const ScalarTarget& target,
                       const std::vector<CoordinateStates>& states) {
  if (states.empty()) return {};
  const Tail below = tail_of(run, target, states, -1);
  const Tail above = tail_of(run, target, states, 1);
  const double farthest = std::max(below.distance, above.distance);
  TailGrowth growth{0, 0};
  for (const Tail& tail : {below, above}) {
    const double z = tail.distance / farthest;
    const double e = tail.length / farthest;
    // E (z + e)^2 and E (z + e)^4: the k-th moment of e is k! times its length^k.
    growth.of_mean = std::max(growth.of_mean, z * z + 2 * e * (z + e));
    const double fourth = std::pow(z, 4) + 4 * e * (z * z * z + 3 * e * (z * z + 2 * e * (z + e)));
    growth.of_square = std::max(growth.of_square, fourth);
  }
  return growth;
}

}  // namespace rehmc::stein
