// Systematic sampling: a few evenly spread states out of many weighted ones.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace rehmc {

/// Reduces the entries from `first` on to at most `count` ones, in place and in order. With W the
/// sum of their weights, points are laid at (u + j) W / count, j = 0 ... count - 1, along the
/// cumulative weights; an entry hit n times stays with weight n W / count. For uniform u in (0, 1)
/// its expected weight is its old one, which is all that invariance asks. In path order this
/// spreads the states evenly, and for equal weights it does what the corrected appendix C of the
/// paper does. Calls `dropped(entry)` for every entry that goes.
template <class Entry, class Dropped>
void sample_systematically(std::vector<Entry>& entries, std::size_t first, std::size_t count,
                           double u, Dropped&& dropped) {
  double total = 0;
  for (std::size_t i = first; i < entries.size(); ++i) total += entries[i].weight;
  const double points_per_weight = static_cast<double>(count) / total;
  const double weight_per_point = total / static_cast<double>(count);

  double cumulative = 0;
  double points_so_far = 0;
  std::size_t end = first;
  const std::size_t last = entries.size() - 1;
  for (std::size_t i = first; i <= last; ++i) {
    cumulative += entries[i].weight;
    // Points in [0, c) number floor(c + 1 - u); the last entry takes what rounding left over.
    const double points =
        i == last ? static_cast<double>(count) : std::floor(cumulative * points_per_weight + 1 - u);
    const double hits = points - points_so_far;
    if (hits > 0) {
      points_so_far = points;
      entries[end] = entries[i];
      entries[end].weight = hits * weight_per_point;
      ++end;
    } else {
      dropped(entries[i]);
    }
  }
  entries.resize(end);
}

}  // namespace rehmc
