// The path of L steps of HMC, written against an abstract walk: it knows no physics.
#pragma once

#include <concepts>
#include <cstdint>

#include "rehmc/trajectory/ending.hpp"
#include "rehmc/trajectory/tree.hpp"

namespace rehmc {

/// Where a path starts and how many steps it is to take.
template <class State>
struct Path {
  State start;
  std::uint64_t steps;
};

/// A step of a path, with the probability min(1, pi(z_k)/pi(z_0)) of accepting where it led.
template <class State>
struct PathStep {
  State state;
  double acceptance = 0;
  bool diverged = false;
};

/// A walk in one direction. `step()` returns a state that stays alive until the next step; whoever
/// needs it longer retains it.
template <class W>
concept ForwardWalk = requires(W& walk) {
  typename W::State;
  { walk.step() } -> std::same_as<PathStep<typename W::State>>;
};

/// The outcome of a path.
struct PathOutcome {
  double acceptance = 0;  ///< of the end of the path; 0 if a divergence cut it off
  Ending ending = Ending::completed;
};

/// Walks a path. Step k, with a_k = min(1, pi(z_k)/pi(z_0)), gives z_k the weight a_k and the start
/// 1 - a_k: Algorithm 1 and Theorem 1, eq. (2.2), of Nishimura & Dunson (2020), Rao-Blackwellized.
/// Steps that a divergence cut off count as rejections: to leave them out would bias the draws.
/// Calls `each_step(k, state, acceptance)` for k = 1 ... steps, the missing ones with acceptance 0.
template <ForwardWalk W, PathKeeper<typename W::State> K, class EachStep>
PathOutcome walk_path(W& walk, const Path<typename W::State>& path, K& keeper,
                      EachStep&& each_step) {
  PathOutcome outcome;
  double rejected = 0;
  std::uint64_t done = 0;
  keeper.begin_half(Direction::forward, path.steps);
  while (done < path.steps) {
    const PathStep<typename W::State> step = walk.step();
    if (step.diverged) {
      outcome.ending = Ending::diverged;
      break;
    }
    ++done;
    rejected += 1 - step.acceptance;
    outcome.acceptance = step.acceptance;
    keeper.leaf(step.state, step.acceptance);
    for (std::uint64_t m = done; (m & 1U) == 0; m >>= 1U) keeper.join();
    each_step(done, step.state, step.acceptance);
  }
  // The steps done are a sum of powers of two: as many subtrees are left as it has ones.
  for (std::uint64_t m = done & (done - 1); m != 0; m &= m - 1) keeper.join();
  const std::uint64_t missing = path.steps - done;
  keeper.start(path.start, rejected + static_cast<double>(missing));
  if (done > 0) keeper.commit(Direction::forward, 1.0, 1.0);
  if (missing > 0) outcome.acceptance = 0;
  for (std::uint64_t k = done + 1; k <= path.steps; ++k) each_step(k, path.start, 0.0);
  return outcome;
}

}  // namespace rehmc
