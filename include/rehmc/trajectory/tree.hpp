// The doubling tree of NUTS, written against an abstract walk: it knows no physics.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "rehmc/core/direction.hpp"
#include "rehmc/trajectory/ending.hpp"
#include "rehmc/trajectory/weight.hpp"

namespace rehmc {

/// One new state at the end of the walk.
template <class State>
struct Leaf {
  State state;
  Weight weight;
  bool diverged = false;
};

/// A reversible walk along states, extended at either end.
///
/// A `Segment` is what a turning criterion needs to know of consecutive states, in the order in
/// which they were reached. `join(segment, next)` appends the segment `next`, whose first state
/// follows the last one of `segment`, consumes `next`, and returns whether the joined segment
/// turns. `step()` returns a state that stays alive until the next step; whoever wants it longer
/// retains it.
template <class W>
concept Walk = requires(W& walk, typename W::State state, typename W::Segment& segment,
                        Direction direction) {
  walk.begin_half(direction);
  { walk.step() } -> std::same_as<Leaf<typename W::State>>;
  { walk.segment_of_last_step() } -> std::same_as<typename W::Segment>;
  { walk.join(segment, segment) } -> std::convertible_to<bool>;
  walk.reverse(segment);
  walk.release(segment);
  walk.keep_half();
  walk.drop_half();
};

/// How the next state of the chain is selected: `selected` becomes `candidate` with the given
/// probability. In production one of the two states is drawn; in the exactness tests a selection is
/// a distribution and `choose` mixes, so that one tree gives all probabilities.
template <class S, class State>
concept Selection = requires(S& selection, State state, typename S::Selected& selected) {
  { selection.leaf(state) } -> std::same_as<typename S::Selected>;
  selection.choose(selected, selected, 0.5);
  selection.release(selected);
};

/// Whoever keeps something of all states: recyclers and running sums. Leaves arrive in the order of
/// the walk, at most as many as `begin_half` announces; `join` merges the two last subtrees; only
/// whole halves are ever dropped.
template <class K, class State>
concept PathKeeper = requires(K& keeper, State state, Direction direction) {
  keeper.start(state, 1.0);
  keeper.begin_half(direction, std::uint64_t{1});
  keeper.leaf(state, 1.0);
  keeper.join();
  keeper.rescale_half(0.5);
  keeper.commit(direction, 1.0, 1.0);
  keeper.drop_half();
};

/// A keeper of a tree is also told, after a join, which of its leaves is selected (by weight).
template <class K, class State, class Selected>
concept Keeper = PathKeeper<K, State> && requires(K& keeper, const Selected& selected) {
  keeper.subtree(selected, 1.0, std::uint64_t{2});
};

/// Several keepers as one.
template <class... Keepers>
class KeepAll {
 public:
  explicit KeepAll(Keepers&... keepers) : keepers_(keepers...) {}

  template <class State>
  void start(State state, double weight) {
    each([&](auto& keeper) { keeper.start(state, weight); });
  }
  void begin_half(Direction direction, std::uint64_t leaves) {
    each([&](auto& keeper) { keeper.begin_half(direction, leaves); });
  }
  template <class State>
  void leaf(State state, double weight) {
    each([&](auto& keeper) { keeper.leaf(state, weight); });
  }
  void join() {
    each([](auto& keeper) { keeper.join(); });
  }
  template <class Selected>
  void subtree(const Selected& selected, double weight, std::uint64_t leaves) {
    each([&](auto& keeper) { keeper.subtree(selected, weight, leaves); });
  }
  void rescale_half(double factor) {
    each([&](auto& keeper) { keeper.rescale_half(factor); });
  }
  void commit(Direction direction, double tree_factor, double half_factor) {
    each([&](auto& keeper) { keeper.commit(direction, tree_factor, half_factor); });
  }
  void drop_half() {
    each([](auto& keeper) { keeper.drop_half(); });
  }

 private:
  template <class F>
  void each(F&& f) {
    std::apply([&](auto&... keeper) { (f(keeper), ...); }, keepers_);
  }
  std::tuple<Keepers&...> keepers_;
};

/// A subtree: a few integers and sums. Merging two moves no states.
template <class Segment, class Selected>
struct Subtree {
  Segment segment;
  Selected selected;
  double weight;  ///< sum over its leaves, in units of the scale of its half (or of the tree)
};

/// The outcome of a tree.
struct TreeOutcome {
  int depth = 0;  ///< doublings that were kept
  Ending ending = Ending::depth_limit;
};

/// Grows doubling trees; owns the stack of subtrees so that a transition allocates nothing.
///
/// Algorithm 3 of Hoffman & Gelman (2014) with weights in place of counts: the slice sampler has
/// weights 0 and 1, the multinomial one exp(H0 - H) (Betancourt 2017, appendix A.3). Within a half
/// the selected state follows the weights; between halves it is biased towards the new one.
template <Walk W, Selection<typename W::State> S, Keeper<typename W::State, typename S::Selected> K>
class Tree {
 public:
  using State = typename W::State;
  using Branch = Subtree<typename W::Segment, typename S::Selected>;

  explicit Tree(std::vector<Branch>& stack, W& walk, S& selection, K& keeper)
      : stack_(stack), walk_(walk), selection_(selection), keeper_(keeper) {
    stack_.clear();
  }

  /// Grows from the walk's start until it turns, diverges or reaches max_depth. Bit j of
  /// `directions` is the direction of doubling j (1: forward). The chosen state is in `tree`.
  TreeOutcome grow(Branch& tree, std::uint64_t directions, int max_depth) {
    WeightScale tree_scale;
    for (int depth = 0; depth < max_depth; ++depth) {
      const auto direction = (directions >> depth) & 1U ? Direction::forward : Direction::backward;
      walk_.begin_half(direction);
      keeper_.begin_half(direction, std::uint64_t{1} << depth);
      half_scale_ = WeightScale{};
      if (const Ending ending = grow_half(depth); ending != Ending::completed) {
        drop_half();
        return {depth, ending};
      }
      Branch half = std::move(stack_.back());
      stack_.pop_back();

      // Only here can the two scales differ.
      const auto [tree_factor, half_factor] = tree_scale.merge(half_scale_);
      tree.weight *= tree_factor;
      half.weight *= half_factor;

      // Biased progressive sampling: probability min(1, w(new half) / w(old tree)).
      selection_.choose(tree.selected, half.selected,
                        half.weight >= tree.weight ? 1.0 : half.weight / tree.weight);
      tree.weight += half.weight;
      keeper_.commit(direction, tree_factor, half_factor);
      walk_.keep_half();

      if (direction == Direction::backward) walk_.reverse(tree.segment);
      const bool turned = walk_.join(tree.segment, half.segment);
      if (direction == Direction::backward) walk_.reverse(tree.segment);
      if (turned) return {depth + 1, Ending::turned};
    }
    return {max_depth, Ending::depth_limit};
  }

 private:
  /// 2^depth steps; completed, or the reason why the half must be dropped whole.
  Ending grow_half(int depth) {
    const std::uint64_t leaves = std::uint64_t{1} << depth;
    for (std::uint64_t n = 1; n <= leaves; ++n) {
      const Leaf<State> leaf = walk_.step();
      if (leaf.diverged) return Ending::diverged;
      const double weight = in_half_scale(leaf.weight);
      stack_.push_back({walk_.segment_of_last_step(), selection_.leaf(leaf.state), weight});
      keeper_.leaf(leaf.state, weight);
      // After leaf n as many complete subtrees end as n has trailing zero bits.
      for (std::uint64_t size = 2; (n & (size - 1)) == 0; size *= 2) {
        if (join_last_two(size)) return Ending::turned_inside;
      }
    }
    return Ending::completed;
  }

  bool join_last_two(std::uint64_t size) {
    Branch& earlier = stack_[stack_.size() - 2];
    Branch& later = stack_.back();
    const double total = earlier.weight + later.weight;
    selection_.choose(earlier.selected, later.selected, total > 0 ? later.weight / total : 0.0);
    earlier.weight = total;
    keeper_.join();
    keeper_.subtree(earlier.selected, total, size);
    const bool turned = walk_.join(earlier.segment, later.segment);
    stack_.pop_back();
    return turned;
  }

  double in_half_scale(const Weight& weight) {
    return half_scale_.in_units(weight, [&](double factor) {
      for (Branch& branch : stack_) branch.weight *= factor;
      keeper_.rescale_half(factor);
    });
  }

  void drop_half() {
    for (Branch& branch : stack_) {
      walk_.release(branch.segment);
      selection_.release(branch.selected);
    }
    stack_.clear();
    keeper_.drop_half();
    walk_.drop_half();
  }

  std::vector<Branch>& stack_;
  W& walk_;
  S& selection_;
  K& keeper_;
  WeightScale half_scale_;
};

}  // namespace rehmc
