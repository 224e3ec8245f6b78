// Integers as states: worlds, states that count references, and all trajectories.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rehmc/trajectory/ending.hpp"
#include "rehmc/trajectory/tree.hpp"
#include "rehmc/trajectory/weight.hpp"

namespace rehmc::exact {

/// A target on the integers 0 ... n - 1, with divergent states and turning segments placed at will.
/// Everything outside diverges. Divergent states are not in the support of the target.
class World {
 public:
  explicit World(std::vector<double> log_density)
      : log_density_(std::move(log_density)), divergent_(log_density_.size(), false) {}

  World& diverge_at(int state) {
    divergent_[static_cast<std::size_t>(state)] = true;
    return *this;
  }
  /// The segment of 2^k states from `lowest` to `highest` turns, in whichever order it is walked.
  World& turn_on(int lowest, int highest) {
    auto& turns = turning_[level(lowest, highest)];
    turns.resize(log_density_.size(), false);
    turns[static_cast<std::size_t>(lowest)] = true;
    return *this;
  }

  int size() const { return static_cast<int>(log_density_.size()); }
  double log_density(int state) const { return log_density_[static_cast<std::size_t>(state)]; }
  bool diverges(int state) const {
    return state < 0 || state >= size() || divergent_[static_cast<std::size_t>(state)];
  }
  bool turns(int lowest, int highest) const {
    const auto& turns = turning_[level(lowest, highest)];
    return !turns.empty() && turns[static_cast<std::size_t>(lowest)];
  }

  /// The target, normalised to largest value 1.
  std::vector<double> density() const {
    double largest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < size(); ++i) {
      if (!diverges(i)) largest = std::max(largest, log_density(i));
    }
    std::vector<double> pi(log_density_.size(), 0.0);
    for (int i = 0; i < size(); ++i) {
      if (!diverges(i)) pi[static_cast<std::size_t>(i)] = std::exp(log_density(i) - largest);
    }
    return pi;
  }

 private:
  static std::size_t level(int lowest, int highest) {
    const auto length = static_cast<unsigned>(highest - lowest + 1);
    if (!std::has_single_bit(length)) throw std::logic_error("a segment of a tree has 2^k states");
    return static_cast<std::size_t>(std::countr_zero(length));
  }

  std::vector<double> log_density_;
  std::vector<bool> divergent_;
  std::array<std::vector<bool>, 32> turning_;  ///< by length, then lowest state; empty for none
};

/// Uniform on [0, 1), with the same bits everywhere.
inline double uniform(std::mt19937_64& engine) {
  return static_cast<double>(engine() >> 11) * 0x1.0p-53;
}

/// How a world is filled at random.
struct WorldPlan {
  int size = 20;
  double spread = 5;   ///< log densities are uniform on [0, spread] ...
  double grain = 0;    ///< ... and rounded to multiples of this if it is positive, which makes ties
  double turning = 0;  ///< share of the segments of 2, 4, ... states that turn
  double divergent = 0;  ///< share of the states that diverge
};

inline World random_world(const WorldPlan& plan, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> log_density;
  for (int i = 0; i < plan.size; ++i) {
    const double value = plan.spread * uniform(engine);
    log_density.push_back(plan.grain > 0 ? plan.grain * std::round(value / plan.grain) : value);
  }
  World world(std::move(log_density));
  for (int length = 2; length <= plan.size; length *= 2) {
    for (int lowest = 0; lowest + length <= plan.size; ++lowest) {
      if (uniform(engine) < plan.turning) world.turn_on(lowest, lowest + length - 1);
    }
  }
  for (int i = 0; i < plan.size; ++i) {
    if (uniform(engine) < plan.divergent) world.diverge_at(i);
  }
  return world;
}

/// States that count their references: using one that has been released is an error.
class IntegerStates {
 public:
  using Handle = int;

  explicit IntegerStates(int size) : references_(static_cast<std::size_t>(size) + 2, 0) {}

  void take(int state) {
    if (count(state)++ != 0) throw std::logic_error("taken while still held");
    peak_ = std::max(peak_, ++in_use_);
  }
  void retain(int state) {
    if (count(state)++ == 0) throw std::logic_error("retained after it was let go");
  }
  void release(int state) {
    if (count(state) == 0) throw std::logic_error("released more often than retained");
    if (--count(state) == 0) --in_use_;
  }

  int references(int state) { return count(state); }
  int in_use() const { return in_use_; }
  int peak() const { return peak_; }

 private:
  /// One more state at each end for the steps that leave the world.
  int& count(int state) { return references_[static_cast<std::size_t>(state + 1)]; }

  std::vector<int> references_;
  int in_use_ = 0;
  int peak_ = 0;
};

/// One trajectory: everything random about it except the selection.
struct Trajectory {
  int start = 0;
  std::uint64_t word = 0;  ///< of directions
  std::optional<double> log_slice =
      std::nullopt;        ///< log(u / pi(start)) for a slice, none for multinomial
  double probability = 1;  ///< of word and slice, given the start
  /// A state diverges when it lies this far below the slice (Hoffman & Gelman 2014, Algorithm 3).
  double slice_limit = std::numeric_limits<double>::infinity();
};

/// The weight of states, and which of them diverge, by the rules of production.
class WeightRule {
 public:
  WeightRule(const World& world, const Trajectory& trajectory)
      : world_(&world), trajectory_(trajectory) {}

  Weight weight(int state) const {
    const double error = energy_error(state);
    return trajectory_.log_slice ? slice_weight(error, *trajectory_.log_slice)
                                 : multinomial_weight(error);
  }
  bool diverges(int state) const {
    return world_->diverges(state) ||
           (trajectory_.log_slice &&
            !(-energy_error(state) > *trajectory_.log_slice - trajectory_.slice_limit));
  }
  /// log of the weight, by definition.
  double log_weight(int state) const {
    const double log_ratio = -energy_error(state);
    if (!trajectory_.log_slice) return log_ratio;
    return log_ratio >= *trajectory_.log_slice ? 0 : -std::numeric_limits<double>::infinity();
  }

 private:
  double energy_error(int state) const {
    return world_->log_density(trajectory_.start) - world_->log_density(state);
  }

  const World* world_;
  Trajectory trajectory_;
};

/// The walk of the tree along integers. Checks that segments are joined end to end.
class IntegerWalk {
 public:
  using State = int;
  struct Segment {
    int first;
    int last;
  };

  IntegerWalk(const World& world, IntegerStates& states, const Trajectory& trajectory)
      : world_(world),
        states_(states),
        rule_(world, trajectory),
        ends_{trajectory.start, trajectory.start} {
    states_.retain(trajectory.start);
    states_.retain(trajectory.start);
  }

  Segment segment_of_start() {
    ++segments_;
    return {ends_[0], ends_[0]};
  }
  void begin_half(Direction direction) {
    sign_ = static_cast<int>(direction);
    front_ = ends_[sign_ > 0];
    states_.retain(front_);
  }
  Leaf<int> step() {
    ++steps_;
    const int next = front_ + sign_;
    states_.take(next);
    if (rule_.diverges(next)) {
      states_.release(next);
      return {next, {}, true};
    }
    states_.release(front_);
    front_ = next;
    return {next, rule_.weight(next), false};
  }
  Segment segment_of_last_step() {
    ++segments_;
    return {front_, front_};
  }
  bool join(Segment& segment, Segment& next) {
    if (segment.last + sign_ != next.first) throw std::logic_error("segments that do not touch");
    segment.last = next.last;
    --segments_;
    return world_.turns(std::min(segment.first, segment.last),
                        std::max(segment.first, segment.last));
  }
  void reverse(Segment& segment) { std::swap(segment.first, segment.last); }
  void release(Segment&) { --segments_; }
  void keep_half() {
    states_.release(ends_[sign_ > 0]);
    ends_[sign_ > 0] = front_;
  }
  void drop_half() { states_.release(front_); }
  void finish() {
    for (const int end : ends_) states_.release(end);
  }

  int steps() const { return steps_; }
  /// Segments that were neither consumed nor released.
  int segments() const { return segments_; }

 private:
  const World& world_;
  IntegerStates& states_;
  WeightRule rule_;
  std::array<int, 2> ends_;  ///< backward, forward
  int front_ = 0;
  int sign_ = 1;
  int steps_ = 0;
  int segments_ = 0;
};

/// A selection that is a distribution: one tree gives the probabilities of all states.
class MixedSelection {
 public:
  struct Chance {
    int state;
    double probability;
  };
  using Selected = std::vector<Chance>;

  Selected leaf(int state) { return {{state, 1.0}}; }
  void choose(Selected& selected, Selected& candidate, double probability) {
    for (Chance& chance : selected) chance.probability *= 1 - probability;
    for (const Chance& chance : candidate) {
      selected.push_back({chance.state, chance.probability * probability});
    }
  }
  void release(Selected&) {}
};

/// A selection for tests of recycling only.
struct NoSelection {
  using Selected = int;
  Selected leaf(int state) { return state; }
  void choose(Selected&, Selected&, double) {}
  void release(Selected&) {}
};

/// Keeps nothing.
struct NoKeeper {
  void start(int, double) {}
  void begin_half(Direction, std::uint64_t) {}
  void leaf(int, double) {}
  void join() {}
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double) {}
  void commit(Direction, double, double) {}
  void drop_half() {}
};

/// A tree that was grown.
template <class Selected>
struct Grown {
  IntegerWalk::Segment segment;
  Selected selected;
  double weight;
  TreeOutcome outcome;
  int steps;
};

/// Grows a tree as the kernels do. `S` may hold references to states, and `W` may differ from the
/// walk above: the negative controls break one or the other.
template <class W = IntegerWalk, class S, class K>
Grown<typename S::Selected> grow_tree(const World& world, IntegerStates& states,
                                      const Trajectory& trajectory, int max_depth, S& selection,
                                      K& keeper) {
  using Branch = Subtree<typename W::Segment, typename S::Selected>;
  states.take(trajectory.start);
  W walk(world, states, trajectory);
  std::vector<Branch> stack;
  Branch tree{walk.segment_of_start(), selection.leaf(trajectory.start), 1.0};
  keeper.start(trajectory.start, 1.0);
  Tree grower(stack, walk, selection, keeper);
  const TreeOutcome outcome = grower.grow(tree, trajectory.word, max_depth);
  const typename W::Segment segment = tree.segment;
  walk.release(tree.segment);
  walk.finish();
  states.release(trajectory.start);
  if (walk.segments() != 0) throw std::logic_error("segments that nobody released");
  return {segment, std::move(tree.selected), tree.weight, outcome, walk.steps()};
}

/// The expected result of a tree, directly from the definition of NUTS.
struct ExpectedTree {
  int lowest;
  int highest;
  int depth = 0;
  Ending ending = Ending::depth_limit;
  int steps = 0;
};

inline ExpectedTree expected_tree(const World& world, const Trajectory& trajectory, int max_depth) {
  const WeightRule rule(world, trajectory);
  ExpectedTree tree{trajectory.start, trajectory.start};
  for (int depth = 0; depth < max_depth; ++depth) {
    const bool forward = ((trajectory.word >> depth) & 1U) != 0;
    const int sign = forward ? 1 : -1;
    const int origin = forward ? tree.highest : tree.lowest;
    for (int n = 1; n <= 1 << depth; ++n) {
      ++tree.steps;
      const int state = origin + sign * n;
      if (rule.diverges(state)) {
        tree.ending = Ending::diverged;
        return tree;
      }
      for (int length = 2; n % length == 0; length *= 2) {
        const int other = state - sign * (length - 1);
        if (world.turns(std::min(state, other), std::max(state, other))) {
          tree.ending = Ending::turned_inside;
          return tree;
        }
      }
    }
    (forward ? tree.highest : tree.lowest) = origin + sign * (1 << depth);
    ++tree.depth;
    if (world.turns(tree.lowest, tree.highest)) {
      tree.ending = Ending::turned;
      return tree;
    }
  }
  return tree;
}

/// Calls `visit(trajectory)` for every word of directions and, for slices, every slice level: the
/// tree changes only where the slice passes the density of a state, or a state's limit of
/// divergence.
template <class Visit>
void for_each_trajectory(const World& world, bool slice, int start, int max_depth, Visit&& visit,
                         double slice_limit = std::numeric_limits<double>::infinity()) {
  const std::vector<double> pi = world.density();
  const double at_start = pi[static_cast<std::size_t>(start)];
  Trajectory trajectory;
  trajectory.start = start;
  trajectory.slice_limit = slice_limit;
  const std::uint64_t words = std::uint64_t{1} << max_depth;
  const auto all_words = [&](double probability) {
    for (trajectory.word = 0; trajectory.word < words; ++trajectory.word) {
      trajectory.probability = probability / static_cast<double>(words);
      visit(std::as_const(trajectory));
    }
  };
  if (!slice) return all_words(1.0);
  std::vector<double> levels{0.0, at_start};
  for (const double value : pi) {
    for (const double level : {value, value * std::exp(slice_limit)}) {
      if (level > 0 && level < at_start) levels.push_back(level);
    }
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  for (std::size_t k = 1; k < levels.size(); ++k) {
    trajectory.log_slice = std::log((levels[k - 1] + levels[k]) / 2 / at_start);
    all_words((levels[k] - levels[k - 1]) / at_start);
  }
}

}  // namespace rehmc::exact
