// Proof by enumeration that the states recycled from a tree follow the target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "rehmc/recycle/recursive.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "tests/recycle/branching.hpp"
#include "tests/recycle/tally.hpp"
#include "tests/trajectory/integers.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::tree_exactness_test {
namespace {

using Spread = KeepSpread<IntegerStates, BranchingRandom>;
using Simple = KeepSimple<IntegerStates, BranchingRandom>;

/// Runs a recycler on a trajectory for every random outcome: `see(probability, slots)`.
template <class Recycler, class Begin, class See>
void for_each_outcome(const World& world, const Trajectory& trajectory, int max_depth,
                      Recycler& recycler, IntegerStates& states, Begin&& begin, See&& see) {
  Explorer explorer;
  double total = 0;
  explorer.explore([&] {
    recycler.begin(begin(explorer));
    BranchingSelection selection(explorer, states);
    auto grown = grow_tree(world, states, trajectory, max_depth, selection, recycler);
    selection.release(grown.selected);
    const auto& slots = recycler.finish();
    see(explorer.probability(), slots);
    total += explorer.probability();
    recycler.clear();
    ASSERT_EQ(states.in_use(), 0);
  });
  ASSERT_NEAR(total, 1, 1e-12);
}

template <class See>
void for_each_spread(const World& world, const Trajectory& trajectory, int max_depth,
                     std::size_t count, See&& see) {
  IntegerStates states(world.size());
  Spread spread(states, count, CellDraw::tree);
  for_each_outcome(
      world, trajectory, max_depth, spread, states,
      [&](Explorer& explorer) { return BranchingRandom(explorer, spread.kept(), count); }, see);
}

template <class See>
void for_each_simple(const World& world, const Trajectory& trajectory, int max_depth,
                     std::size_t count, See&& see) {
  IntegerStates states(world.size());
  Simple simple(states, count, trajectory.log_slice.has_value());
  for_each_outcome(
      world, trajectory, max_depth, simple, states,
      [&](Explorer& explorer) { return BranchingRandom(explorer); }, see);
}

template <class See>
void for_each_recursive(const World& world, const Trajectory& trajectory, int max_depth,
                        std::size_t count, See&& see) {
  IntegerStates states(world.size());
  KeepRecursive<IntegerStates, BranchingRandom> recursive(states, count);
  for_each_outcome(
      world, trajectory, max_depth, recursive, states,
      [&](Explorer& explorer) { return BranchingRandom(explorer); }, see);
}

enum class Kind { spread, simple, recursive };

struct ProofPlan {
  Kind kind;
  bool slice;
  int max_depth;
  std::size_t count;
};

/// The expected number of slots of each state.
Tally expected_slots(const World& world, const Trajectory& trajectory, const ProofPlan& plan) {
  Tally slots(world);
  const auto see = [&](double probability, const std::vector<Entry<int>>& entries) {
    ASSERT_EQ(entries.size(), plan.count);
    for (const auto& entry : entries) {
      ASSERT_EQ(entry.weight, 1.0 / static_cast<double>(plan.count));
      slots[entry.state] += probability;
    }
  };
  if (plan.kind == Kind::spread) {
    for_each_spread(world, trajectory, plan.max_depth, plan.count, see);
  } else if (plan.kind == Kind::simple) {
    for_each_simple(world, trajectory, plan.max_depth, plan.count, see);
  } else {
    for_each_recursive(world, trajectory, plan.max_depth, plan.count, see);
  }
  return slots;
}

/// From every start, by every tree: the expected number of slots is K times the weight; and the
/// average over slots leaves the target invariant.
void expect_exact(const World& world, const ProofPlan& plan) {
  const double invariance = bias(world, [&](int start) {
    Tally kept(world);
    for_each_tree(world, plan.slice, start, plan.max_depth,
                  [&](const Trajectory& trajectory, const ExpectedTree& tree) {
                    const Tally slots = expected_slots(world, trajectory, plan);
                    const Tally weights = expected_weights(world, trajectory, tree);
                    EXPECT_LT(slots.distance(weights, static_cast<double>(plan.count)), 1e-12);
                    kept.add(trajectory.probability, slots);
                  });
    return kept;
  });
  EXPECT_LT(invariance, 1e-12);
}

/// Small worlds in which each kind of ending happens.
std::vector<World> small_worlds(double grain) {
  std::vector<World> worlds = strewn_worlds(10, grain, 10);
  worlds.push_back(bumpy_world(9).turn_on(2, 5));
  worlds.push_back(bumpy_world(9).turn_on(3, 4).diverge_at(7));
  return worlds;
}

/// Worlds with room for one complete tree of 16 states, which can grow from each of them.
std::vector<World> deep_worlds(double grain) {
  std::vector<World> worlds;
  worlds.push_back(random_world({.size = 16, .spread = 3, .grain = grain}, 7));
  worlds.push_back(random_world({.size = 16, .spread = 5, .grain = grain, .turning = 0.05}, 8));
  return worlds;
}

TEST(SpreadOfTree, SlotsFollowTheWeights) {
  for (const std::size_t count : {1, 2, 3, 5, 8, 20}) {
    for (const World& world : small_worlds(1)) expect_exact(world, {Kind::spread, true, 3, count});
    for (const World& world : small_worlds(0)) expect_exact(world, {Kind::spread, false, 3, count});
  }
}

TEST(SpreadOfTree, SlotsFollowTheWeightsInDeepTrees) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 8, 16, 30}) {
    for (const World& world : deep_worlds(1)) expect_exact(world, {Kind::spread, true, 4, count});
    for (const World& world : deep_worlds(0)) expect_exact(world, {Kind::spread, false, 4, count});
  }
}

TEST(SimpleOfTree, SlotsFollowTheWeights) {
  for (const World& world : small_worlds(1)) {
    for (const std::size_t count : {1, 2, 3, 5, 11}) {
      expect_exact(world, {Kind::simple, true, 2, count});
    }
    for (const std::size_t count : {1, 2, 3}) expect_exact(world, {Kind::simple, true, 3, count});
  }
  for (const World& world : small_worlds(0)) {
    for (const std::size_t count : {1, 2, 3}) expect_exact(world, {Kind::simple, false, 2, count});
    expect_exact(world, {Kind::simple, false, 3, 1});
  }
  expect_exact(small_worlds(0).front(), {Kind::simple, false, 3, 2});
}

TEST(SimpleOfTree, SlotsFollowTheWeightsInDeepTrees) {
  for (const World& world : deep_worlds(1)) expect_exact(world, {Kind::simple, true, 4, 1});
  for (const World& world : deep_worlds(0)) expect_exact(world, {Kind::simple, false, 4, 1});
}

TEST(RecursiveOfTree, SlotsFollowTheWeights) {
  for (const std::size_t count : {1, 2, 3, 5, 8, 20}) {
    for (const World& world : small_worlds(1)) {
      expect_exact(world, {Kind::recursive, true, 3, count});
    }
    for (const World& world : small_worlds(0)) {
      expect_exact(world, {Kind::recursive, false, 3, count});
    }
  }
}

TEST(RecursiveOfTree, SlotsFollowTheWeightsInDeepTrees) {
  for (const std::size_t count : {1, 3, 8}) {
    for (const World& world : deep_worlds(1)) {
      expect_exact(world, {Kind::recursive, true, 4, count});
    }
    for (const World& world : deep_worlds(0)) {
      expect_exact(world, {Kind::recursive, false, 4, count});
    }
  }
}

/// The distribution of complete lists of slots.
using ListLaw = std::map<std::vector<int>, double>;

std::vector<int> states_of(const std::vector<Entry<int>>& slots) {
  std::vector<int> states;
  for (const auto& slot : slots) states.push_back(slot.state);
  return states;
}

ListLaw simple_lists(const World& world, const Trajectory& trajectory, std::size_t count) {
  ListLaw law;
  for_each_simple(world, trajectory, 2, count, [&](double probability, const auto& slots) {
    law[states_of(slots)] += probability;
  });
  return law;
}

// On a slice: without replacement, all orders equally likely; with |A| < K every state
// floor(K/|A|) times and the rest without replacement.
TEST(SimpleOfTree, DrawsFromASliceWithoutReplacement) {
  const World world(std::vector<double>{0, 0, 0, -2, 0, 0, 0, 0});
  for (const std::size_t count : {2, 3}) {
    const ListLaw law = simple_lists(world, {.start = 4, .word = 0b11, .log_slice = -1}, count);
    EXPECT_EQ(law.size(), count == 2 ? 12U : 24U);  // ordered lists out of 4 ... 7
    for (const auto& [list, probability] : law) {
      EXPECT_EQ(std::set<int>(list.begin(), list.end()).size(), count);
      EXPECT_NEAR(probability, count == 2 ? 1.0 / 12 : 1.0 / 24, 1e-14);
    }
  }
  // 2 ... 5 without 3: three acceptable states for seven slots.
  const ListLaw law = simple_lists(world, {.start = 4, .word = 0b01, .log_slice = -1}, 7);
  EXPECT_EQ(law.size(), 6U);
  for (const auto& [list, probability] : law) {
    EXPECT_NEAR(probability, 1.0 / 6, 1e-14);
    std::map<int, int> copies;
    for (const int state : list) ++copies[state];
    EXPECT_EQ(copies.size(), 3U);
    EXPECT_EQ(copies.count(3), 0U);
    for (const auto& [state, n] : copies) EXPECT_EQ(n, state == list.front() ? 3 : 2);
  }
}

TEST(SimpleOfTree, DrawsIndependentlyByWeight) {
  const World world = bumpy_world(8);
  const Trajectory trajectory{.start = 3, .word = 0b01};
  const Tally weights = expected_weights(world, trajectory, expected_tree(world, trajectory, 2));
  const ListLaw law = simple_lists(world, trajectory, 3);
  EXPECT_EQ(law.size(), 64U);
  for (const auto& [list, probability] : law) {
    EXPECT_NEAR(probability, weights[list[0]] * weights[list[1]] * weights[list[2]], 1e-14);
  }
}

/// A source whose shuffle rotates the slots, all rotations equally likely.
class TurningRandom : public BranchingRandom {
 public:
  TurningRandom(const Address& address, Purpose purpose) : BranchingRandom(address, purpose) {}
  TurningRandom(Explorer& explorer, const Kept<IntegerStates>& kept, std::size_t count)
      : BranchingRandom(explorer, kept, count), explorer_(&explorer) {}

  template <class T>
  void shuffle(std::span<T> items) {
    const double places = explorer_->decide([&](auto& outcomes) {
      const auto n = static_cast<double>(items.size());
      for (double place = 0; place < n; ++place) outcomes.push_back({place, 1 / n});
    });
    std::rotate(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(places), items.end());
  }

 private:
  Explorer* explorer_ = nullptr;
};

/// The distribution of the first slot of `spread 3`.
template <class Random>
Tally first_slot(const World& world, const Trajectory& trajectory) {
  IntegerStates states(world.size());
  KeepSpread<IntegerStates, Random> spread(states, 3, CellDraw::tree);
  Tally law(world);
  for_each_outcome(
      world, trajectory, 3, spread, states,
      [&](Explorer& explorer) { return Random(explorer, spread.kept(), 3); },
      [&](double probability, const auto& slots) { law[slots.front().state] += probability; });
  return law;
}

// In path order, only the average of the slots follows the weights, not a single slot.
TEST(SpreadOfTree, ASingleSlotFollowsTheWeightsOnlyInRandomOrder) {
  const World world = bumpy_world(12);
  for (std::uint64_t word = 0; word < 8; ++word) {
    const Trajectory trajectory{.start = 6, .word = word};
    const ExpectedTree tree = expected_tree(world, trajectory, 3);
    const Tally weights = expected_weights(world, trajectory, tree);
    EXPECT_LT(first_slot<TurningRandom>(world, trajectory).distance(weights), 1e-12);
    if (tree.depth > 1) {
      EXPECT_GT(first_slot<BranchingRandom>(world, trajectory).distance(weights), 0.05);
    }
  }
}

// Equal weights: slots in path order, from either half of the tree its share of the K up to one
// (Nishimura & Dunson (2020), appendix C), exactly one from every block of 16 / K states where that
// is an integer, and at exactly that distance where a half has at most K states.
TEST(SpreadOfTree, SpreadsEvenlyAlongThePath) {
  const World world(std::vector<double>(34, 0.0));
  for (const std::size_t count : {1, 2, 3, 4, 5, 8, 11, 16, 20}) {
    for (std::uint64_t word = 0; word < 16; ++word) {
      const int lowest = 17 - static_cast<int>(~word & 15U);
      const auto inside = [&](const std::vector<int>& states, int block, int length) {
        return static_cast<std::size_t>(std::count_if(states.begin(), states.end(), [&](int state) {
          return (state - lowest) / length == block;
        }));
      };
      for_each_spread(world, {.start = 17, .word = word, .log_slice = -1}, 4, count,
                      [&](double, const auto& slots) {
                        const std::vector<int> states = states_of(slots);
                        ASSERT_TRUE(std::is_sorted(states.begin(), states.end()));
                        for (const int half : {0, 1}) {
                          ASSERT_GE(inside(states, half, 8), count / 2);
                          ASSERT_LE(inside(states, half, 8), (count + 1) / 2);
                        }
                        if (16 % count != 0) return;
                        const int blocks = static_cast<int>(count);
                        for (int block = 0; block < blocks; ++block) {
                          ASSERT_EQ(inside(states, block, 16 / blocks), 1U);
                        }
                        for (std::size_t i = 1; count >= 8 && i < count; ++i) {
                          ASSERT_EQ(states[i] - states[i - 1], 16 / blocks);
                        }
                      });
    }
  }
}

using Every = KeepEvery<IntegerStates>;

/// Wrongly keeps the states of a half that is dropped.
struct KeepsDroppedHalf : Every {
  using Every::Every;
  void drop_half() { commit(Direction::forward, 1, 1); }
};

/// The states that `all` keeps of every tree from a start, each counted `weigh(entry, size)`.
template <class Recycler, class Weigh>
Tally keep_all(const World& world, bool slice, int max_depth, int start, Weigh&& weigh) {
  Tally kept(world);
  for_each_tree(world, slice, start, max_depth,
                [&](const Trajectory& trajectory, const ExpectedTree&) {
                  IntegerStates states(world.size());
                  Recycler recycler(states);
                  recycler.begin(Stream({}, Purpose::test));
                  NoSelection selection;
                  grow_tree(world, states, trajectory, max_depth, selection, recycler);
                  const auto& entries = recycler.finish();
                  for (const auto& entry : entries) {
                    kept[entry.state] +=
                        trajectory.probability * weigh(entry, static_cast<double>(entries.size()));
                  }
                  recycler.clear();
                  EXPECT_EQ(states.in_use(), 0);
                });
  return kept;
}

double own_weight(const Entry<int>& entry, double) { return entry.weight; }
double unit_weight(const Entry<int>&, double) { return 1; }
double equal_weight(const Entry<int>&, double size) { return 1 / size; }

template <class Recycler, class Weigh>
double bias_of_all(const World& world, bool slice, Weigh&& weigh) {
  return bias(world, [&](int start) { return keep_all<Recycler>(world, slice, 4, start, weigh); });
}

TEST(AllOfTree, WeighsEveryStateExactly) {
  for (const bool slice : {true, false}) {
    std::vector<World> worlds = placed_worlds();
    for (World& world : strewn_worlds(20, slice ? 1 : 0, 20)) worlds.push_back(std::move(world));
    for (const World& world : worlds) {
      for (int start = 0; start < world.size(); ++start) {
        if (world.diverges(start)) continue;
        for_each_tree(
            world, slice, start, 4, [&](const Trajectory& trajectory, const ExpectedTree& tree) {
              IntegerStates states(world.size());
              Every every(states);
              every.begin(Stream({}, Purpose::test));
              NoSelection selection;
              grow_tree(world, states, trajectory, 4, selection, every);
              Tally weights(world);
              int last = -1;
              for (const auto& entry : every.finish()) {
                ASSERT_GT(entry.state, last);  // once each, in path order
                last = entry.state;
                weights[entry.state] = entry.weight;
              }
              ASSERT_LT(weights.distance(expected_weights(world, trajectory, tree)), 1e-14);
              every.clear();
              ASSERT_EQ(states.in_use(), 0);
            });
      }
      EXPECT_LT(bias_of_all<Every>(world, slice, own_weight), 1e-12);
    }
  }
}

// Plausible but wrong rules, which the same check rejects.
TEST(AllOfTree, RejectsTheStatesOfADroppedHalf) {
  for (const bool slice : {true, false}) {
    const World world = bumpy_world(20).turn_on(8, 11).turn_on(13, 14);
    EXPECT_LT(bias_of_all<Every>(world, slice, own_weight), 1e-12);
    EXPECT_GT(bias_of_all<KeepsDroppedHalf>(world, slice, own_weight), 1e-3);
  }
}

TEST(AllOfTree, RejectsPoolingAcceptableStatesWithoutTheirNumber) {
  for (const World& world : strewn_worlds(20, 0, 10)) {
    EXPECT_LT(bias_of_all<Every>(world, true, equal_weight), 1e-12);
    EXPECT_GT(bias_of_all<Every>(world, true, unit_weight), 1e-3);
  }
}

TEST(AllOfTree, RejectsEqualWeightsWithoutASlice) {
  for (const World& world : strewn_worlds(20, 0, 10)) {
    EXPECT_GT(bias_of_all<Every>(world, false, equal_weight), 1e-3);
  }
}

/// Every state of `from`, each accepted or rejected against the start as in Algorithm 1 of
/// Nishimura & Dunson (2020).
void accept_every_state(const World& world, int start, const std::vector<int>& from, double weight,
                        Tally& kept) {
  for (const int state : from) {
    const double acceptance =
        std::min(1.0, std::exp(world.log_density(state) - world.log_density(start)));
    kept[state] += weight * acceptance;
    kept[start] += weight * (1 - acceptance);
  }
}

/// The states of a tree; with `visited`, also those of a half that was dropped.
std::vector<int> states_of(const World& world, const Trajectory& trajectory,
                           const ExpectedTree& tree, bool visited) {
  std::vector<int> states;
  for (int i = tree.lowest; i <= tree.highest; ++i) states.push_back(i);
  if (!visited) return states;
  const bool forward = ((trajectory.word >> tree.depth) & 1U) != 0;
  const int dropped = tree.steps - (tree.highest - tree.lowest);
  for (int n = 1; n <= dropped; ++n) {
    const int state = forward ? tree.highest + n : tree.lowest - n;
    if (!world.diverges(state)) states.push_back(state);
  }
  return states;
}

/// The mistake that Nishimura & Dunson (2020) warn of in section 4: all states that NUTS visits are
/// recycled as those of a path. Two things make it wrong: the states of a half that was dropped,
/// and that trees from some states are larger than from others. Without either it would be right,
/// if less efficient than weights by density.
TEST(AllOfTree, RejectsRecyclingEveryVisitedStateAsOnAPath) {
  for (World world : strewn_worlds(20, 0, 10)) {
    world.turn_on(4, 7).turn_on(13, 14);
    const auto naive = [&](bool visited, bool pooled) {
      return bias(world, [&](int start) {
        Tally kept(world);
        for_each_tree(
            world, false, start, 4, [&](const Trajectory& trajectory, const ExpectedTree& tree) {
              const auto states = states_of(world, trajectory, tree, visited);
              const double share = pooled ? 1 : 1 / static_cast<double>(states.size());
              accept_every_state(world, start, states, trajectory.probability * share, kept);
            });
        return kept;
      });
    };
    EXPECT_GT(naive(true, true), 1e-3);
    EXPECT_GT(naive(true, false), 1e-3);
    EXPECT_GT(naive(false, true), 1e-3);
    EXPECT_LT(naive(false, false), 1e-12);
  }
}

/// The function Recycle of Nishimura & Dunson (2020), Algorithm 6: the expected number of slots of
/// each state of [lowest, highest] out of `count`. `share(left, all)` is the algorithm's w per
/// slot. An empty subtree gets none, a case that the paper leaves open.
template <class Share>
void recycle_as_in_appendix(const World& world, const WeightRule& rule, int lowest, int highest,
                            double count, double probability, Share&& share, Tally& slots) {
  if (count == 0) return;
  if (lowest == highest) {
    slots[lowest] += probability * count;
    return;
  }
  const int middle = (lowest + highest) / 2;
  const auto acceptable = [&](int from, int to) {
    double n = 0;
    for (int i = from; i <= to; ++i) n += rule.weight(i).value;
    return n;
  };
  const double left = acceptable(lowest, middle);
  const double all = left + acceptable(middle + 1, highest);
  const double w = left == 0 ? 0 : left == all ? count : count * share(left, all);
  const double whole = std::floor(w);
  for (const double extra : {0.0, 1.0}) {
    const double branch = probability * (extra == 0 ? 1 - (w - whole) : w - whole);
    if (branch == 0) continue;
    recycle_as_in_appendix(world, rule, lowest, middle, whole + extra, branch, share, slots);
    recycle_as_in_appendix(world, rule, middle + 1, highest, count - whole - extra, branch, share,
                           slots);
  }
}

// Erratum of Algorithm 6: w = K |A'| / |A| is right, the printed w = K / |A'| is wrong.
TEST(AppendixC, PrintedRuleIsRejectedAndCorrectedRuleIsNot) {
  const auto corrected = [](double left, double all) { return left / all; };
  const auto printed = [](double left, double) { return 1 / left; };
  for (const World& world : deep_worlds(1)) {
    for (const double count : {1.0, 3.0, 8.0}) {
      double worst_corrected = 0;
      double worst_printed = 0;
      const auto keep = [&](auto&& share, double& worst) {
        return [&, share](int start) {
          Tally kept(world);
          for_each_tree(world, true, start, 4,
                        [&](const Trajectory& trajectory, const ExpectedTree& tree) {
                          Tally slots(world);
                          recycle_as_in_appendix(world, WeightRule(world, trajectory), tree.lowest,
                                                 tree.highest, count, 1, share, slots);
                          const Tally weights = expected_weights(world, trajectory, tree);
                          worst = std::max(worst, slots.distance(weights, count) / count);
                          kept.add(trajectory.probability, slots);
                        });
          return kept;
        };
      };
      EXPECT_LT(bias(world, keep(corrected, worst_corrected)), 1e-12);
      EXPECT_LT(worst_corrected, 1e-12);
      EXPECT_GT(bias(world, keep(printed, worst_printed)), 1e-3);
      EXPECT_GT(worst_printed, 0.1);
    }
  }
}

/// Energy differences whose exponential overflows.
std::vector<World> steep_worlds() {
  std::vector<World> worlds;
  worlds.emplace_back(std::vector<double>{0, 2000, 0, 1999, 3, 2001, -5, 1, 4000, 3999, 2, 0});
  worlds.emplace_back(std::vector<double>{0, 310, 650, 200, 299, 301, 1, 900, 899, 901, 0, 2});
  worlds.emplace_back(std::vector<double>{0, -720, -725, 1, 2, -730, -740, 3, -745, 0, 1, -735});
  worlds.emplace_back(std::vector<double>{0, 0, 900, 901, 0, 2, 1, 900, 899, 901, 0, 2});
  worlds.back().turn_on(2, 3).turn_on(7, 8).diverge_at(10);
  return worlds;
}

// The weights' sums are kept in logarithms as in production, and dropping a half with a huge weight
// leaves the tree unchanged.
TEST(SteepTree, AllEqualsLogarithms) {
  for (const World& world : steep_worlds()) {
    for (int start = 0; start < world.size(); ++start) {
      if (world.diverges(start)) continue;
      for_each_tree(world, false, start, 3,
                    [&](const Trajectory& trajectory, const ExpectedTree& tree) {
                      IntegerStates states(world.size());
                      Every every(states);
                      every.begin(Stream({}, Purpose::test));
                      NoSelection selection;
                      grow_tree(world, states, trajectory, 3, selection, every);
                      Tally weights(world);
                      for (const auto& entry : every.finish()) weights[entry.state] += entry.weight;
                      ASSERT_LT(weights.distance(expected_weights(world, trajectory, tree)), 1e-13);
                      every.clear();
                    });
    }
  }
}

TEST(SteepTree, SlotsFollowTheWeights) {
  for (const World& world : steep_worlds()) {
    for (const std::size_t count : {1, 2, 3, 5}) {
      expect_exact(world, {Kind::spread, false, 3, count});
    }
    expect_exact(world, {Kind::simple, false, 3, 1});
    expect_exact(world, {Kind::simple, false, 2, 3});
  }
}

}  // namespace
}  // namespace rehmc::exact::tree_exactness_test
