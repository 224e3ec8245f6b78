// Proof by enumeration that the doubling tree is right: all directions, all slice levels.
#include "rehmc/trajectory/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "tests/trajectory/integers.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::tree_test {
namespace {

/// Row i holds the probabilities of moving from state i to each state.
using Matrix = std::vector<std::vector<double>>;

/// Which tree, how deep, and how far below the slice a state diverges.
struct TreePlan {
  bool slice = false;
  int max_depth = 4;
  double slice_limit = infinity;
};

/// The exact transition probabilities of the chain.
template <class W = IntegerWalk, class S = MixedSelection>
Matrix transition_matrix(const World& world, const TreePlan& plan) {
  const auto n = static_cast<std::size_t>(world.size());
  Matrix matrix(n, std::vector<double>(n, 0.0));
  for (int start = 0; start < world.size(); ++start) {
    if (world.diverges(start)) continue;
    for_each_trajectory(
        world, plan.slice, start, plan.max_depth,
        [&](const Trajectory& trajectory) {
          IntegerStates states(world.size());
          S selection;
          NoKeeper keeper;
          const auto tree =
              grow_tree<W>(world, states, trajectory, plan.max_depth, selection, keeper);
          for (const auto& chance : tree.selected) {
            matrix[static_cast<std::size_t>(start)][static_cast<std::size_t>(chance.state)] +=
                trajectory.probability * chance.probability;
          }
        },
        plan.slice_limit);
  }
  return matrix;
}

/// The largest |log pi(i) P(i, j) - log pi(j) P(j, i)|; infinite if only one of them is zero.
double imbalance(const World& world, const Matrix& matrix) {
  double largest = 0;
  for (int i = 0; i < world.size(); ++i) {
    for (int j = 0; j < i; ++j) {
      if (world.diverges(i) || world.diverges(j)) continue;
      const double there = matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      const double back = matrix[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
      if (there == 0 && back == 0) continue;
      const double difference =
          world.log_density(i) - world.log_density(j) + std::log(there / back);
      largest = std::max(largest, std::abs(difference));
    }
  }
  return largest;
}

/// The largest difference of a row's sum from 1, over the states of the target.
double leakage(const World& world, const Matrix& matrix) {
  double largest = 0;
  for (int i = 0; i < world.size(); ++i) {
    if (world.diverges(i)) continue;
    double sum = 0;
    for (const double probability : matrix[static_cast<std::size_t>(i)]) sum += probability;
    largest = std::max(largest, std::abs(sum - 1));
  }
  return largest;
}

/// The largest relative change of the target in one transition: recycling `none` keeps these
/// states.
double drift(const World& world, const Matrix& matrix) {
  const std::vector<double> pi = world.density();
  double largest = 0;
  for (std::size_t j = 0; j < pi.size(); ++j) {
    if (pi[j] == 0) continue;
    double after = 0;
    for (std::size_t i = 0; i < pi.size(); ++i) after += pi[i] * matrix[i][j];
    largest = std::max(largest, std::abs(after / pi[j] - 1));
  }
  return largest;
}

void expect_balanced(const World& world, const TreePlan& plan) {
  const Matrix matrix = transition_matrix(world, plan);
  EXPECT_LT(imbalance(world, matrix), 1e-12);
  EXPECT_LT(leakage(world, matrix), 1e-12);
  EXPECT_LT(drift(world, matrix), 1e-12);
}

TEST(TreeDetailedBalance, SliceInPlacedWorlds) {
  for (const World& world : placed_worlds()) {
    for (int depth = 1; depth <= 4; ++depth) expect_balanced(world, {true, depth});
  }
}

TEST(TreeDetailedBalance, MultinomialInPlacedWorlds) {
  for (const World& world : placed_worlds()) {
    for (int depth = 1; depth <= 4; ++depth) expect_balanced(world, {false, depth});
  }
}

TEST(TreeDetailedBalance, SliceInRandomWorlds) {
  for (const World& world : strewn_worlds(20, 0, 60)) expect_balanced(world, {true, 4});
  for (const World& world : strewn_worlds(34, 1, 60)) expect_balanced(world, {true, 4});
}

TEST(TreeDetailedBalance, MultinomialInRandomWorlds) {
  for (const World& world : strewn_worlds(20, 0, 200)) expect_balanced(world, {false, 4});
  for (const World& world : strewn_worlds(34, 0, 200)) expect_balanced(world, {false, 4});
}

// Hoffman & Gelman measure divergence from the slice, not from the start: that is reversible too.
TEST(TreeDetailedBalance, SliceWithAnEnergyLimitBelowTheSlice) {
  for (const World& world : strewn_worlds(20, 0, 60)) expect_balanced(world, {true, 4, 1.5});
}

/// A selection that ignores the weights.
struct UniformSelection : MixedSelection {
  void choose(Selected& selected, Selected& candidate, double) {
    MixedSelection::choose(selected, candidate, 0.5);
  }
};

/// A walk that keeps a half which turned inside itself, and stops only then.
class KeepsTurnedHalf : public IntegerWalk {
 public:
  using IntegerWalk::IntegerWalk;
  void begin_half(Direction direction) {
    inside_ = true;
    IntegerWalk::begin_half(direction);
  }
  void keep_half() {
    inside_ = false;
    IntegerWalk::keep_half();
  }
  bool join(Segment& segment, Segment& next) {
    const bool turned = IntegerWalk::join(segment, next);
    turned_inside_ = turned_inside_ || (inside_ && turned);
    return !inside_ && (turned || turned_inside_);
  }

 private:
  bool inside_ = false;
  bool turned_inside_ = false;
};

/// A walk whose turning depends on the direction in which it is walked.
class TurnsForwardOnly : public IntegerWalk {
 public:
  using IntegerWalk::IntegerWalk;
  void begin_half(Direction direction) {
    forward_ = direction == Direction::forward;
    IntegerWalk::begin_half(direction);
  }
  bool join(Segment& segment, Segment& next) {
    return IntegerWalk::join(segment, next) && forward_;
  }

 private:
  bool forward_ = false;
};

TEST(TreeDetailedBalance, RejectsUniformSelection) {
  for (const World& world : strewn_worlds(20, 0, 10)) {
    const Matrix multinomial = transition_matrix<IntegerWalk, UniformSelection>(world, {false, 3});
    EXPECT_GT(imbalance(world, multinomial), 0.1);
    const Matrix slice = transition_matrix<IntegerWalk, UniformSelection>(world, {true, 3});
    EXPECT_GT(imbalance(world, slice), 0.1);
  }
}

TEST(TreeDetailedBalance, RejectsAKeptHalfThatTurnedInside) {
  for (const bool slice : {true, false}) {
    const World world = bumpy_world(20).turn_on(8, 11);
    EXPECT_GT(imbalance(world, transition_matrix<KeepsTurnedHalf>(world, {slice, 4})), 0.1);
  }
}

TEST(TreeDetailedBalance, RejectsTurningThatDependsOnTheDirection) {
  for (const bool slice : {true, false}) {
    const World world = bumpy_world(20).turn_on(8, 11);
    EXPECT_GT(imbalance(world, transition_matrix<TurnsForwardOnly>(world, {slice, 4})), 0.1);
  }
}

/// log(e^a + e^b).
double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger == -infinity ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// The law of the selected state, computed in logarithms from the definition: within a half by
/// weight, between halves with probability min(1, w(new half) / w(old tree)). Logarithms are taken
/// relative to the tree's largest weight: those that matter are small, and so precise.
std::map<int, double> expected_selection(const World& world, const Trajectory& trajectory,
                                         const ExpectedTree& tree) {
  const WeightRule rule(world, trajectory);
  double largest = 0;
  for (int i = tree.lowest; i <= tree.highest; ++i) {
    largest = std::max(largest, rule.log_weight(i));
  }
  const auto log_weight = [&](int state) { return rule.log_weight(state) - largest; };
  std::map<int, double> log_law{{trajectory.start, 0.0}};
  double log_tree = log_weight(trajectory.start);
  int lowest = trajectory.start;
  int highest = trajectory.start;
  for (int doubling = 0; doubling < tree.depth; ++doubling) {
    const int length = 1 << doubling;
    const bool forward = ((trajectory.word >> doubling) & 1U) != 0;
    const int from = forward ? highest + 1 : lowest - length;
    (forward ? highest : lowest) += forward ? length : -length;
    double log_half = -infinity;
    for (int i = from; i < from + length; ++i) log_half = log_sum(log_half, log_weight(i));
    const double log_move = std::min(0.0, log_half - log_tree);
    const double log_stay = std::log(-std::expm1(log_move));
    for (auto& [state, log_probability] : log_law) log_probability += log_stay;
    for (int i = from; i < from + length; ++i) {
      log_law[i] = log_half == -infinity ? -infinity : log_move + log_weight(i) - log_half;
    }
    log_tree = log_sum(log_tree, log_half);
  }
  for (auto& [state, log_probability] : log_law) log_probability = std::exp(log_probability);
  return log_law;
}

/// Sum of the weights of a tree's states relative to its largest one, in logarithms.
double expected_log_weight(const World& world, const Trajectory& trajectory,
                           const ExpectedTree& tree) {
  const WeightRule rule(world, trajectory);
  double sum = -infinity;
  for (int i = tree.lowest; i <= tree.highest; ++i) sum = log_sum(sum, rule.log_weight(i));
  return sum;
}

/// Which endings have occurred: a test of an ending proves something only if it did.
using Endings = std::set<Ending>;

/// Every tree of a world is the one the definition gives.
void expect_trees_as_defined(const World& world, const TreePlan& plan, Endings& seen) {
  for (int start = 0; start < world.size(); ++start) {
    if (world.diverges(start)) continue;
    for_each_trajectory(
        world, plan.slice, start, plan.max_depth, [&](const Trajectory& trajectory) {
          IntegerStates states(world.size());
          MixedSelection selection;
          NoKeeper keeper;
          const auto tree = grow_tree(world, states, trajectory, plan.max_depth, selection, keeper);
          const ExpectedTree expected = expected_tree(world, trajectory, plan.max_depth);
          seen.insert(expected.ending);
          ASSERT_EQ(tree.segment.first, expected.lowest);
          ASSERT_EQ(tree.segment.last, expected.highest);
          ASSERT_EQ(tree.outcome.depth, expected.depth);
          ASSERT_EQ(tree.outcome.ending, expected.ending);
          ASSERT_EQ(tree.steps, expected.steps);
          const std::map<int, double> law = expected_selection(world, trajectory, expected);
          ASSERT_EQ(tree.selected.size(), law.size());
          for (const auto& [state, probability] : tree.selected) {
            ASSERT_NEAR(probability, law.at(state), 1e-13);
          }
          ASSERT_EQ(states.in_use(), 0);
        });
  }
}

TEST(Tree, EndsAndSelectsAsDefined) {
  Endings seen;
  for (const bool slice : {true, false}) {
    for (const World& world : placed_worlds()) {
      for (int depth = 1; depth <= 4; ++depth) {
        expect_trees_as_defined(world, {slice, depth}, seen);
      }
    }
    for (const World& world : strewn_worlds(26, 0, slice ? 5 : 20)) {
      expect_trees_as_defined(world, {slice, 4}, seen);
    }
  }
  EXPECT_EQ(seen, (Endings{Ending::turned, Ending::turned_inside, Ending::diverged,
                           Ending::depth_limit}));
}

TEST(Tree, ReportsEachEnding) {
  struct Case {
    World world;
    std::uint64_t word;
    int max_depth;
    Ending ending;
    int depth;
    int steps;
  };
  const World flat(std::vector<double>(32, 0.0));
  const std::vector<Case> cases{
      {flat, 0b111, 3, Ending::depth_limit, 3, 7},
      {flat, 0b1, 1, Ending::depth_limit, 1, 1},
      // 10 | 11 | 12 13: the tree 10 ... 13 turns, its last half is kept.
      {World(flat).turn_on(10, 13), 0b111, 4, Ending::turned, 2, 3},
      // The half 12 13 turns and is dropped; the tree stays 10 11.
      {World(flat).turn_on(12, 13), 0b111, 4, Ending::turned_inside, 1, 3},
      // In the half 14 ... 17 the first pair turns: two steps of it are walked.
      {World(flat).turn_on(14, 15), 0b111, 4, Ending::turned_inside, 2, 5},
      // ... the whole half turns: all four steps are walked.
      {World(flat).turn_on(14, 17), 0b111, 4, Ending::turned_inside, 2, 7},
      {World(flat).diverge_at(13), 0b111, 4, Ending::diverged, 1, 3},
      {World(flat).diverge_at(11), 0b111, 4, Ending::diverged, 0, 1},
      // Turning takes precedence over a later divergence, and vice versa.
      {World(flat).turn_on(14, 15).diverge_at(16), 0b111, 4, Ending::turned_inside, 2, 5},
      {World(flat).turn_on(14, 17).diverge_at(16), 0b111, 4, Ending::diverged, 2, 6},
      // Backward: 10 | 9 | 8 7 | 6 5 4 3.
      {World(flat).turn_on(3, 6), 0b000, 4, Ending::turned_inside, 2, 7},
      {World(flat).turn_on(7, 10), 0b000, 4, Ending::turned, 2, 3},
      {World(flat).diverge_at(4), 0b000, 4, Ending::diverged, 2, 6},
      // A segment that no subtree covers exactly does not count: 11 12 is not a subtree here.
      {World(flat).turn_on(11, 12), 0b111, 3, Ending::depth_limit, 3, 7},
      // The first bit is the first doubling: 10 | 11 | 9 8.
      {World(flat).turn_on(8, 11), 0b001, 4, Ending::turned, 2, 3},
      {World(flat).turn_on(9, 12), 0b110, 4, Ending::turned, 2, 3},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    IntegerStates states(c.world.size());
    MixedSelection selection;
    NoKeeper keeper;
    const auto tree =
        grow_tree(c.world, states, {.start = 10, .word = c.word}, c.max_depth, selection, keeper);
    EXPECT_EQ(describe(tree.outcome.ending), describe(c.ending)) << "case " << i;
    EXPECT_EQ(tree.outcome.depth, c.depth) << "case " << i;
    EXPECT_EQ(tree.steps, c.steps) << "case " << i;
  }
}

TEST(Tree, NamesItsEndings) {
  EXPECT_EQ(describe(Ending::completed), "completed");
  EXPECT_EQ(describe(Ending::turned), "turned");
  EXPECT_EQ(describe(Ending::turned_inside), "turned inside the last half");
  EXPECT_EQ(describe(Ending::diverged), "diverged");
  EXPECT_EQ(describe(Ending::depth_limit), "depth limit");
}

/// Falls of energy far beyond the range of a double, with and without ties.
std::vector<World> steep_worlds() {
  std::vector<World> worlds;
  worlds.emplace_back(
      std::vector<double>{0, 2000, 0, 1999, 3, 2001, -5, 1, 4000, 3999, 2, 0, 1, 2});
  worlds.emplace_back(
      std::vector<double>{0, 310, 650, 200, 299, 301, 1, 900, 899, 901, 0, 2, 1, 5});
  worlds.emplace_back(std::vector<double>{0, -400, -2000, 1, 2, 0, -1e4, 3, 1e4, 0, 1, 2e4, 0, 3});
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    WorldPlan plan;
    plan.size = 20;
    plan.spread = seed % 2 == 0 ? 1200 : 9000;
    plan.turning = 0.05 * static_cast<double>(seed % 3);
    plan.divergent = 0.03 * static_cast<double>(seed % 2);
    worlds.push_back(random_world(plan, 50 + seed));
  }
  return worlds;
}

TEST(TreeScale, SelectionInSteepWorldsEqualsLogarithms) {
  Endings seen;
  for (const World& world : steep_worlds()) {
    for (int depth = 1; depth <= 4; ++depth) expect_trees_as_defined(world, {false, depth}, seen);
  }
  EXPECT_EQ(seen.size(), 4U);
}

// The sum of a tree is in units of its largest scale: it is finite, and right up to that scale.
TEST(TreeScale, WeightOfTheTreeEqualsLogarithms) {
  for (const World& world : steep_worlds()) {
    for (int start = 0; start < world.size(); ++start) {
      if (world.diverges(start)) continue;
      for_each_trajectory(world, false, start, 4, [&](const Trajectory& trajectory) {
        IntegerStates states(world.size());
        MixedSelection selection;
        NoKeeper keeper;
        const auto tree = grow_tree(world, states, trajectory, 4, selection, keeper);
        const ExpectedTree expected = expected_tree(world, trajectory, 4);
        double scale = 0;  // of the committed states only: a dropped half has no effect
        for (int i = expected.lowest; i <= expected.highest; ++i) {
          const double log_weight = WeightRule(world, trajectory).log_weight(i);
          if (log_weight > log_weight_limit) scale = std::max(scale, log_weight);
        }
        ASSERT_NEAR(std::log(tree.weight), expected_log_weight(world, trajectory, expected) - scale,
                    1e-12);
      });
    }
  }
}

}  // namespace
}  // namespace rehmc::exact::tree_test
