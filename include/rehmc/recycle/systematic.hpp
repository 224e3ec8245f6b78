// Systematic sampling: a few evenly spread states out of many weighted ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace rehmc {

/// Lays points evenly along weighted entries: with W the sum of their weights, at (u + j) W /
/// count, j = 0 ... count - 1, of the cumulative weights. Calls `hit(i, points)` for every entry in
/// order, also for those with no point, and returns W / count. For uniform u in (0, 1) the expected
/// number of points of an entry is count times its share of the weight, which is all that
/// invariance asks. In path order this spreads the states evenly along the trajectory: an entry
/// gets the number of points nearest below or above its expectation.
template <class Entry, class Hit>
double lay_points(const std::vector<Entry>& entries, std::size_t count, double u, Hit&& hit) {
  double total = 0;
  for (const Entry& entry : entries) total += entry.weight;
  const auto all_points = static_cast<double>(count);
  const double points_per_weight = all_points / total;

  double cumulative = 0;
  double points_so_far = 0;
  const std::size_t last = entries.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    cumulative += entries[i].weight;
    // Points in [0, c) number floor(c + 1 - u); rounding can neither add nor lose one at the end.
    const double laid = std::floor(cumulative * points_per_weight + 1 - u);
    const double points = i == last ? all_points : std::min(laid, all_points);
    hit(i, points - points_so_far);
    points_so_far = points;
  }
  return total / all_points;
}

/// Reduces weighted entries to at most `count` ones, in place and in order: an entry with n points
/// stays with n times the weight of a point. Calls `dropped(entry)` for every entry that goes.
template <class Entry, class Dropped>
void sample_systematically(std::vector<Entry>& entries, std::size_t count, double u,
                           Dropped&& dropped) {
  std::size_t end = 0;
  const double weight_per_point = lay_points(entries, count, u, [&](std::size_t i, double points) {
    // Entries that were hit move to the front. Which ones cannot be predicted, so no branch is made
    // of it: whatever lies between `end` and `i` was not hit, and may change places.
    std::swap(entries[end], entries[i]);
    entries[end].weight = points;
    end += points > 0;
  });
  for (std::size_t i = 0; i < end; ++i) entries[i].weight *= weight_per_point;
  for (std::size_t i = end; i < entries.size(); ++i) dropped(entries[i]);
  entries.resize(end);
}

}  // namespace rehmc
