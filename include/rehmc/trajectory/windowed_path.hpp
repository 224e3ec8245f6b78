// A path from one window of states to another, written against an abstract walk.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rehmc/trajectory/ending.hpp"
#include "rehmc/trajectory/two_way.hpp"

namespace rehmc {

/// A path of `steps` steps whose first and last `window` states are windows; they do not overlap.
/// The start has `before` states of the first window before it. Every number from 0 to window - 1
/// must be as likely as any other.
template <class State>
struct WindowedPath {
  State start;
  std::uint64_t steps;
  std::uint64_t window;
  std::uint64_t before;
};

/// The outcome of a windowed path: where the chain may move.
template <class Selected>
struct WindowedOutcome {
  Selected first;         ///< a state of the first window, drawn by weight
  Selected last;          ///< a state of the last window, drawn by weight, if acceptance > 0
  double acceptance = 0;  ///< of the last window: min(1, sum of pi there / sum of pi in the first)
  bool has_last = false;  ///< whether the path reached the last window
  Ending ending = Ending::completed;
};

/// Walks a windowed path: Neal (1994), "An improved acceptance procedure for the hybrid Monte Carlo
/// algorithm". With P the acceptance of the last window, a state of it weighs P pi(z_k) / (sum of
/// pi there), a state of the first window (1 - P) pi(z_k) / (sum of pi there), and any state
/// between them nothing. These weights are the law of the chain's next state given the path, which
/// leaves the target invariant because from any state of either window the same path is reached
/// with probability 1 / window, and P satisfies detailed balance between the windows.
///
/// A divergence cuts off what lies beyond it. This happens to the same states whichever of the rest
/// the path starts from, so the proof holds for what is left.
template <TwoWayWalk W, Selection<typename W::State> S, PathKeeper<typename W::State> K>
class WindowedWalk {
 public:
  using Selected = typename S::Selected;
  using Outcome = WindowedOutcome<Selected>;

  WindowedWalk(W& walk, S& selection, K& keeper)
      : walk_(walk), selection_(selection), keeper_(keeper) {}

  Outcome run(const WindowedPath<typename W::State>& path) {
    Outcome outcome{.first = selection_.leaf(path.start), .last = {}};
    keeper_.start(path.start, 1.0);
    first_weight_ = 1;
    scale_ = WeightScale{};
    add_to_first(Direction::backward, path.before, outcome);
    if (add_to_first(Direction::forward, path.window - 1 - path.before, outcome) &&
        pass(path.steps + 1 - 2 * path.window, outcome)) {
      add_last(path.window, outcome);
    }
    return outcome;
  }

 private:
  struct Window : PathPart {
    Selected selected{};
  };

  static double share(double part, double total) { return total > 0 ? part / total : 0.0; }

  /// Grows a part, of which a state is selected by weight.
  Window grow(Direction direction, std::uint64_t steps) {
    Window window;
    bool begun = false;
    static_cast<PathPart&>(window) =
        grow_part(walk_, keeper_, direction, steps, PartWeights::density,
                  [&](const auto& state, double weight, double total) {
                    Selected leaf = selection_.leaf(state);
                    if (begun) {
                      selection_.choose(window.selected, leaf, share(weight, total));
                    } else {
                      window.selected = std::move(leaf);
                    }
                    begun = true;
                  });
    return window;
  }

  /// Adds states to the first window; false if a divergence cut them off.
  bool add_to_first(Direction direction, std::uint64_t steps, Outcome& outcome) {
    if (steps == 0) return true;
    Window part = grow(direction, steps);
    if (part.diverged) outcome.ending = Ending::diverged;
    if (part.leaves == 0) return false;
    const auto [ours, theirs] = scale_.merge(part.scale);
    first_weight_ = first_weight_ * ours + part.weight * theirs;
    selection_.choose(outcome.first, part.selected, share(part.weight * theirs, first_weight_));
    keeper_.commit(direction, ours, theirs);
    return !part.diverged;
  }

  /// Walks the states between the windows; false if a divergence cut them off.
  bool pass(std::uint64_t between, Outcome& outcome) {
    if (between == 0) return true;
    const PathPart part = grow_part(walk_, keeper_, Direction::forward, between, PartWeights::none,
                                    [](const auto&, double, double) {});
    if (part.leaves > 0) keeper_.commit(Direction::forward, 1.0, 1.0);
    if (part.diverged) outcome.ending = Ending::diverged;
    return !part.diverged;
  }

  void add_last(std::uint64_t window, Outcome& outcome) {
    Window last = grow(Direction::forward, window);
    if (last.diverged) outcome.ending = Ending::diverged;
    if (last.leaves == 0) return;
    outcome.has_last = true;
    outcome.last = std::move(last.selected);
    const auto [ours, theirs] = scale_.merge(last.scale);
    const double of_first = first_weight_ * ours;
    const double of_last = last.weight * theirs;
    outcome.acceptance = of_last < of_first ? of_last / of_first : 1.0;
    const double p = outcome.acceptance;
    keeper_.commit(Direction::forward, p < 1 ? (1 - p) / first_weight_ : 0.0,
                   p > 0 ? p / last.weight : 0.0);
  }

  W& walk_;
  S& selection_;
  K& keeper_;
  double first_weight_ = 1;  ///< sum over the first window, in units of the scale
  WeightScale scale_;
};

}  // namespace rehmc
