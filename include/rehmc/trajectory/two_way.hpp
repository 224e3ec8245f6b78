// Parts of a path that grows from its start in both directions; they know no physics.
#pragma once

#include <concepts>
#include <cstdint>

#include "rehmc/core/direction.hpp"
#include "rehmc/trajectory/tree.hpp"
#include "rehmc/trajectory/weight.hpp"

namespace rehmc {

/// A walk that can be extended at either end, in parts: a tree's without its segments. A step that
/// diverged leaves the end where it was. `step()` returns a state that stays alive until the next
/// step; whoever wants it longer retains it.
template <class W>
concept TwoWayWalk = requires(W& walk, Direction direction) {
  walk.begin_half(direction);
  { walk.step() } -> std::same_as<Leaf<typename W::State>>;
  walk.keep_half();
};

/// One part of a path: consecutive states in one direction, of which a divergence may cut off the
/// rest.
struct PathPart {
  std::uint64_t leaves = 0;
  double weight = 0;  ///< sum over its leaves, in units of the scale
  WeightScale scale;
  double last_ratio = 0;  ///< of the last leaf: min(1, pi(z_k)/pi(z_0))
  bool diverged = false;
};

/// Whether the leaves of a part may be chosen.
enum class PartWeights { density, none };

/// Grows a part of at most `steps` leaves; the caller commits or drops it. Calls `each_leaf(state,
/// weight, total)` with the weight of the leaf and of all leaves so far.
template <TwoWayWalk W, PathKeeper<typename W::State> K, class EachLeaf>
PathPart grow_part(W& walk, K& keeper, Direction direction, std::uint64_t steps,
                   PartWeights weights, EachLeaf&& each_leaf) {
  PathPart part;
  keeper.begin_half(direction, steps);
  walk.begin_half(direction);
  while (part.leaves < steps) {
    const Leaf<typename W::State> leaf = walk.step();
    if (leaf.diverged) {
      part.diverged = true;
      break;
    }
    double weight = 0;
    if (weights == PartWeights::density) {
      weight = part.scale.in_units(leaf.weight, [&](double factor) {
        part.weight *= factor;
        keeper.rescale_half(factor);
      });
    }
    part.last_ratio = MultinomialWeights::acceptance(leaf.weight, 0);
    part.weight += weight;
    ++part.leaves;
    keeper.leaf(leaf.state, weight);
    for (std::uint64_t m = part.leaves; (m & 1U) == 0; m >>= 1U) keeper.join();
    each_leaf(leaf.state, weight, part.weight);
  }
  // The leaves are a sum of powers of two: as many subtrees are left as it has ones.
  for (std::uint64_t m = part.leaves & (part.leaves - 1); m != 0; m &= m - 1) keeper.join();
  if (part.leaves == 0) keeper.drop_half();
  walk.keep_half();
  return part;
}

}  // namespace rehmc
