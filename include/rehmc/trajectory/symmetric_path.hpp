// A path that begins at a random place within itself, written against an abstract walk.
#pragma once

#include <cstdint>

#include "rehmc/trajectory/ending.hpp"
#include "rehmc/trajectory/two_way.hpp"

namespace rehmc {

/// Where a path of K = backward + forward steps starts. Every split of K must be as likely as any
/// other: `backward` is L of Nishimura & Dunson (2020), Algorithm 4, step 1, uniform on 0 ... K.
template <class State>
struct SymmetricPath {
  State start;
  std::uint64_t backward;
  std::uint64_t forward;

  /// Where the chain may move: the end that lies farther from the start.
  Direction farther() const {
    return forward >= backward ? Direction::forward : Direction::backward;
  }
};

/// The outcome of a symmetric path: the chain moves to its farther end with the probability (B.1)
/// of Nishimura & Dunson (2020), or stays.
struct SymmetricOutcome {
  double acceptance = 0;  ///< of the farther end; 0 if a divergence cut it off
  Ending ending = Ending::completed;
};

/// Walks a path in both directions. Of its K + 1 states, eq. (B.2) of Nishimura & Dunson (2020),
/// each weighs pi(z_k), relative to their sum: eq. (B.3), Algorithms 4 and 5. From any of these
/// states the same set is reached by exactly one split, and all splits are equally likely; so the
/// weights, which depend on the set alone, leave the target invariant.
///
/// A divergence cuts off what lies beyond it. This happens to the same states whichever of the rest
/// the path starts from, so the proof holds for what is left.
template <TwoWayWalk W, PathKeeper<typename W::State> K>
SymmetricOutcome walk_symmetric(W& walk, const SymmetricPath<typename W::State>& path, K& keeper) {
  SymmetricOutcome outcome;
  WeightScale scale;
  keeper.start(path.start, 1.0);
  for (const Direction direction : {Direction::backward, Direction::forward}) {
    const std::uint64_t steps = direction == Direction::forward ? path.forward : path.backward;
    if (steps == 0) continue;
    const PathPart part = grow_part(walk, keeper, direction, steps, PartWeights::density,
                                    [](const auto&, double, double) {});
    if (part.diverged) outcome.ending = Ending::diverged;
    if (direction == path.farther() && !part.diverged) outcome.acceptance = part.last_ratio;
    if (part.leaves == 0) continue;
    const auto [ours, theirs] = scale.merge(part.scale);
    keeper.commit(direction, ours, theirs);
  }
  return outcome;
}

}  // namespace rehmc
