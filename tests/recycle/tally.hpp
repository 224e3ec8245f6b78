// Weights summed by state, and the distance of recycled states from the target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/trajectory/integers.hpp"

namespace rehmc::exact {

/// A number per state of a world.
class Tally {
 public:
  explicit Tally(const World& world) : sums_(static_cast<std::size_t>(world.size()), 0.0) {}

  double& operator[](int state) { return sums_.at(static_cast<std::size_t>(state)); }
  double operator[](int state) const { return sums_.at(static_cast<std::size_t>(state)); }

  void add(double factor, const Tally& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += factor * other.sums_[i];
  }
  double total() const {
    double total = 0;
    for (const double sum : sums_) total += sum;
    return total;
  }
  /// The largest absolute difference of an entry from `factor` times the other's.
  double distance(const Tally& other, double factor = 1) const {
    double largest = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      largest = std::max(largest, std::abs(sums_[i] - factor * other.sums_[i]));
    }
    return largest;
  }

 private:
  std::vector<double> sums_;
};

/// The target with sum 1.
inline Tally target(const World& world) {
  Tally pi(world);
  const std::vector<double> density = world.density();
  double total = 0;
  for (const double value : density) total += value;
  for (int i = 0; i < world.size(); ++i) pi[i] = density[static_cast<std::size_t>(i)] / total;
  return pi;
}

/// The distance from the target of the states kept from each start, mixed over starts in proportion
/// to the target, where each start may count as much as it keeps.
template <class Keep>
double bias(const World& world, Keep&& keep) {
  const Tally pi = target(world);
  Tally mixture(world);
  for (int start = 0; start < world.size(); ++start) {
    if (!world.diverges(start)) mixture.add(pi[start], keep(start));
  }
  return mixture.distance(pi, mixture.total());
}

/// The weights of a tree's states: 1/|A| on the slice (Nishimura & Dunson (2020), Fact 1), or the
/// density over the sum of densities.
inline Tally expected_weights(const World& world, const Trajectory& trajectory,
                              const ExpectedTree& tree) {
  const WeightRule rule(world, trajectory);
  double largest = -std::numeric_limits<double>::infinity();
  for (int i = tree.lowest; i <= tree.highest; ++i) {
    largest = std::max(largest, rule.log_weight(i));
  }
  Tally weights(world);
  for (int i = tree.lowest; i <= tree.highest; ++i) {
    weights[i] = std::exp(rule.log_weight(i) - largest);
  }
  const double total = weights.total();
  for (int i = tree.lowest; i <= tree.highest; ++i) weights[i] /= total;
  return weights;
}

/// Calls `visit(trajectory, tree)` for all distinct trajectories from a start: direction words that
/// differ only in directions never used count once.
template <class Visit>
void for_each_tree(const World& world, bool slice, int start, int max_depth, Visit&& visit) {
  for_each_trajectory(world, slice, start, max_depth, [&](const Trajectory& trajectory) {
    const ExpectedTree tree = expected_tree(world, trajectory, max_depth);
    const bool dropped = tree.ending == Ending::diverged || tree.ending == Ending::turned_inside;
    const int asked = tree.depth + (dropped ? 1 : 0);
    if ((trajectory.word >> asked) != 0) return;
    Trajectory representative = trajectory;
    representative.probability *= std::ldexp(1.0, max_depth - asked);
    visit(representative, tree);
  });
}

}  // namespace rehmc::exact
