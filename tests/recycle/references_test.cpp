// Recyclers release every state however the trajectory ends, and hold few at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/recycle/accept_steps.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "tests/recycle/tally.hpp"
#include "tests/trajectory/integer_path.hpp"
#include "tests/trajectory/integers.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::references_test {
namespace {

/// Draws which state is selected, and holds it.
class HeldSelection {
 public:
  using Selected = int;
  HeldSelection(IntegerStates& states, const Address& address)
      : states_(states), stream_(address, Purpose::selection) {}

  Selected leaf(int state) {
    states_.retain(state);
    return state;
  }
  void choose(Selected& selected, Selected& candidate, double probability) {
    const bool take = stream_.uniform() < probability;
    states_.release(take ? selected : candidate);
    if (take) selected = candidate;
  }
  void release(Selected& selected) { states_.release(selected); }

 private:
  IntegerStates& states_;
  Stream stream_;
};

/// What for_each_recycler makes recyclers for.
struct Use {
  CellDraw draw;  ///< trees or paths
  bool equal_weights = false;
};

/// Calls `test(recycler)` with every recycler of these states.
template <class Test>
void for_each_recycler(IntegerStates& states, Use use, Test&& test) {
  KeepEvery<IntegerStates> every(states);
  test(every);
  for (const std::size_t count : {1, 3, 8, 100}) {
    KeepSpread<IntegerStates> spread(states, count, use.draw);
    test(spread);
    KeepSimple<IntegerStates> simple(states, count, use.equal_weights);
    test(simple);
  }
}

/// The slots of a draw, the committed states they must come from, and their weights.
template <class Recycler>
void expect_a_proper_draw(Recycler& recycler, IntegerStates& states, int lowest, int highest) {
  double total = 0;
  for (const auto& entry : recycler.finish()) {
    ASSERT_GE(entry.state, lowest);
    ASSERT_LE(entry.state, highest);
    ASSERT_GT(states.references(entry.state), 0);
    total += entry.weight;
  }
  ASSERT_NEAR(total, 1, 1e-12);
}

void expect_trees_let_go(const World& world, bool slice) {
  IntegerStates states(world.size());
  std::uint64_t iteration = 0;
  for_each_recycler(states, {CellDraw::tree, slice}, [&](auto& recycler) {
    for (int start = 0; start < world.size(); ++start) {
      if (world.diverges(start)) continue;
      for_each_tree(world, slice, start, 4,
                    [&](const Trajectory& trajectory, const ExpectedTree& tree) {
                      const Address address{5, 0, ++iteration};
                      HeldSelection selection(states, address);
                      recycler.begin(Stream(address, Purpose::recycling));
                      auto grown = grow_tree(world, states, trajectory, 4, selection, recycler);
                      expect_a_proper_draw(recycler, states, tree.lowest, tree.highest);
                      ASSERT_GT(states.references(grown.selected), 0);
                      recycler.clear();
                      ASSERT_EQ(states.in_use(), 1);
                      selection.release(grown.selected);
                      ASSERT_EQ(states.in_use(), 0);
                    });
    }
  });
}

TEST(References, TreesReleaseEveryState) {
  for (const World& world : placed_worlds()) {
    expect_trees_let_go(world, false);
    expect_trees_let_go(world, true);
  }
  for (const World& world : strewn_worlds(20, 0, 5)) expect_trees_let_go(world, false);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    expect_trees_let_go(random_world({.size = 20, .spread = 4000, .turning = 0.1}, seed), false);
  }
}

TEST(References, PathsReleaseEveryState) {
  for (const World& world : strewn_worlds(20, 0, 12)) {
    IntegerStates states(world.size());
    std::uint64_t iteration = 0;
    for (int start = 0; start < world.size(); ++start) {
      if (world.diverges(start)) continue;
      for (const int steps : {1, 2, 3, 6, 7, 8, 13}) {
        const PathPlan plan{start, iteration % 2 == 0 ? 1 : -1, steps};
        for_each_recycler(states, {CellDraw::own}, [&](auto& recycler) {
          const Address address{6, 0, ++iteration};
          std::vector<int> accepted;
          const Path<int> path{start, static_cast<std::uint64_t>(steps)};
          AcceptSteps<IntegerStates> accept_steps(states, accepted, {RecyclingKind::accept_each, 0},
                                                  path, {0.5, Stream(address, Purpose::recycling)});
          recycler.begin(Stream(address, Purpose::recycling));
          walk_integers(world, states, plan, recycler, accept_steps);
          expect_a_proper_draw(recycler, states, std::min(start, start + plan.sign * steps),
                               std::max(start, start + plan.sign * steps));
          recycler.clear();
          ASSERT_EQ(accepted.size(), path.steps);
          for (const int state : accepted) states.release(state);
          ASSERT_EQ(states.in_use(), 0);
        });
      }
    }
  }
}

// A recycler that starts again releases what it still holds.
TEST(References, ARestartReleasesTheLastDraw) {
  const World world = bumpy_world(20);
  IntegerStates states(world.size());
  for_each_recycler(states, {CellDraw::tree}, [&](auto& recycler) {
    for (std::uint64_t iteration = 0; iteration < 20; ++iteration) {
      const Address address{7, 0, iteration};
      HeldSelection selection(states, address);
      recycler.begin(Stream(address, Purpose::recycling));
      ASSERT_EQ(states.in_use(), 0);
      auto grown =
          grow_tree(world, states, {.start = 9, .word = iteration % 16}, 4, selection, recycler);
      selection.release(grown.selected);
      recycler.finish();
    }
    recycler.clear();
    ASSERT_EQ(states.in_use(), 0);
  });
}

/// The greatest number of states in use while `walk(states, recycler)` runs.
template <class Make, class Walk>
int peak_of(int size, Make&& make, Walk&& walk) {
  IntegerStates states(size);
  auto recycler = make(states);
  recycler.begin(Stream({8, 0, 0}, Purpose::recycling));
  walk(states, recycler);
  recycler.finish();
  recycler.clear();
  return states.peak();
}

// For any size of the trajectory, spread holds at most 2K states (3K of a tree if K is not a
// power of two), simple K per level.
TEST(References, FewStatesAreHeldAtATime) {
  const World world(std::vector<double>(2048, 0.0));
  constexpr int levels = 11;
  constexpr int walkers = levels + 5;  // a selected state per level; the ends, front and next
  for (const std::size_t count : {1, 3, 8}) {
    const auto spread = [&](CellDraw draw) {
      return [=](auto& states) { return KeepSpread<IntegerStates>(states, count, draw); };
    };
    const auto simple = [&](auto& states) {
      return KeepSimple<IntegerStates>(states, count, false);
    };
    const int k = static_cast<int>(count);
    for (const std::uint64_t word : {0b1111111111, 0b0000000000, 0b0110100101}) {
      const auto tree = [&](IntegerStates& states, auto& recycler) {
        HeldSelection selection(states, {8, 0, word});
        grow_tree(world, states, {.start = 1024, .word = word}, levels - 1, selection, recycler);
      };
      EXPECT_LE(peak_of(world.size(), spread(CellDraw::tree), tree),
                (count == 3 ? 3 : 2) * k + walkers);
      EXPECT_LE(peak_of(world.size(), simple, tree), k * levels + walkers);
    }
    const auto path = [&](IntegerStates& states, auto& recycler) {
      walk_integers(world, states, {5, 1, 1023}, recycler, [](std::uint64_t, int, double) {});
    };
    EXPECT_LE(peak_of(world.size(), spread(CellDraw::own), path), 2 * k + 3);
    EXPECT_LE(peak_of(world.size(), simple, path), k * levels + 3);
  }
}

}  // namespace
}  // namespace rehmc::exact::references_test
