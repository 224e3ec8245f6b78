// Proof by enumeration that the states recycled from an HMC path follow the target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/recycle/accept_steps.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "tests/recycle/branching.hpp"
#include "tests/recycle/tally.hpp"
#include "tests/trajectory/integer_path.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::path_exactness_test {
namespace {

/// Worlds with walls, so that many paths end early.
std::vector<World> path_worlds() {
  std::vector<World> worlds;
  worlds.push_back(bumpy_world(14));
  worlds.push_back(bumpy_world(14).diverge_at(6));
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    worlds.push_back(random_world({.size = 14, .spread = 3, .divergent = 0.1}, 200 + seed));
  }
  return worlds;
}

/// The weights of a path (Nishimura & Dunson (2020), Algorithm 1): a_k / L for step k, the rest for
/// the start.
Tally expected_weights(const World& world, const PathPlan& plan) {
  Tally weights(world);
  const auto steps = static_cast<double>(plan.steps);
  int state = plan.start;
  for (const double acceptance : expected_acceptances(world, plan)) {
    state += plan.sign;
    if (acceptance > 0) weights[state] += acceptance / steps;
    weights[plan.start] += (1 - acceptance) / steps;
  }
  return weights;
}

constexpr auto no_steps = [](std::uint64_t, int, double) {};

enum class Kind { all, spread, simple, accept_each, stride };

struct ProofPlan {
  Kind kind;
  std::size_t count;
};

/// The expected number of slots of each state; for `all`, the weights themselves.
Tally expected_slots(const World& world, const PathPlan& plan, const ProofPlan& proof) {
  IntegerStates states(world.size());
  Explorer explorer;
  Tally slots(world);
  double total = 0;
  const auto run = [&](auto& recycler, auto&& begin) {
    explorer.explore([&] {
      recycler.begin(begin());
      walk_integers(world, states, plan, recycler, no_steps);
      for (const auto& entry : recycler.finish()) {
        const double slots_of_entry = proof.kind == Kind::all
                                          ? entry.weight
                                          : entry.weight * static_cast<double>(proof.count);
        slots[entry.state] += explorer.probability() * slots_of_entry;
      }
      total += explorer.probability();
      recycler.clear();
      ASSERT_EQ(states.in_use(), 0);
    });
  };
  if (proof.kind == Kind::all) {
    KeepEvery<IntegerStates> every(states);
    run(every, [] { return Stream({}, Purpose::test); });
  } else if (proof.kind == Kind::spread) {
    KeepSpread<IntegerStates, BranchingRandom> spread(states, proof.count, CellDraw::own);
    run(spread, [&] { return BranchingRandom(explorer, spread.kept(), proof.count); });
  } else if (proof.kind == Kind::simple) {
    KeepSimple<IntegerStates, BranchingRandom> simple(states, proof.count, false);
    run(simple, [&] { return BranchingRandom(explorer); });
  } else {
    const Recycling recycling{
        proof.kind == Kind::stride ? RecyclingKind::stride : RecyclingKind::accept_each,
        proof.count};
    const double end_acceptance = expected_acceptances(world, plan).back();
    explorer.explore([&] {
      // The chain's coin matters only through whether it accepts the end.
      const bool moves = BranchingRandom(explorer).chance(end_acceptance);
      const double coin = moves ? end_acceptance / 2 : (1 + end_acceptance) / 2;
      std::vector<int> accepted;
      const Path<int> path{plan.start, static_cast<std::uint64_t>(plan.steps)};
      AcceptSteps<IntegerStates, BranchingRandom> accept_steps(states, accepted, recycling, path,
                                                               {coin, BranchingRandom(explorer)});
      KeepNone keeper;
      const WalkedPath walked = walk_integers(world, states, plan, keeper, accept_steps);
      ASSERT_EQ(accepted.size(), proof.kind == Kind::stride
                                     ? std::min(proof.count, static_cast<std::size_t>(plan.steps))
                                     : static_cast<std::size_t>(plan.steps));
      // The last slot is where the chain moves.
      ASSERT_EQ(accepted.back(), coin < walked.outcome.acceptance ? walked.end : plan.start);
      for (const int state : accepted) {
        slots[state] += explorer.probability();
        states.release(state);
      }
      total += explorer.probability();
      ASSERT_EQ(states.in_use(), 0);
    });
  }
  EXPECT_NEAR(total, 1, 1e-12);
  return slots;
}

/// The distance from the target of the mixture over starts and directions; `keep(plan)` for each.
template <class Keep>
double path_bias(const World& world, int steps, Keep&& keep) {
  return bias(world, [&](int start) {
    Tally kept(world);
    for (const int sign : {-1, 1}) kept.add(0.5, keep(PathPlan{start, sign, steps}));
    return kept;
  });
}

/// From every start in both directions: expected slots are K times the weight, and their average
/// leaves the target invariant.
void expect_exact(const World& world, int steps, const ProofPlan& proof) {
  const double invariance = path_bias(world, steps, [&](const PathPlan& plan) {
    const Tally slots = expected_slots(world, plan, proof);
    const double number = proof.kind == Kind::all           ? 1
                          : proof.kind == Kind::accept_each ? static_cast<double>(steps)
                                                            : static_cast<double>(proof.count);
    if (proof.kind != Kind::stride) {
      EXPECT_LT(slots.distance(expected_weights(world, plan), number), 1e-12);
    }
    return slots;
  });
  EXPECT_LT(invariance, 1e-12);
}

TEST(AllOfPath, WeighsEveryStateExactly) {
  for (const World& world : path_worlds()) {
    for (int steps = 1; steps <= 9; ++steps) expect_exact(world, steps, {Kind::all, 0});
  }
}

TEST(SpreadOfPath, SlotsFollowTheWeights) {
  for (const World& world : path_worlds()) {
    for (const std::size_t count : {1, 2, 3, 5, 12}) {
      for (int steps = 1; steps <= 9; ++steps) expect_exact(world, steps, {Kind::spread, count});
    }
  }
}

// Beyond `most_copies`, an entry has the weight of several slots.
TEST(SpreadOfPath, MergedSlotsFollowTheWeights) {
  for (const World& world : path_worlds()) {
    for (const std::size_t count : {most_copies + 1, std::size_t{200}}) {
      for (int steps = 1; steps <= 4; ++steps) expect_exact(world, steps, {Kind::spread, count});
    }
  }
}

// However many slots there are, no state is kept twice, and together they weigh 1.
TEST(SpreadOfPath, MillionsOfSlotsAreFewEntries) {
  const World world(std::vector<double>(20, 0.0));
  IntegerStates states(world.size());
  KeepSpread<IntegerStates> spread(states, 1'000'000, CellDraw::own);
  spread.begin(Stream({9, 0, 1}, Purpose::recycling));
  walk_integers(world, states, {3, 1, 12}, spread, no_steps);
  double total = 0;
  std::vector<int> kept;
  for (const auto& entry : spread.finish()) {
    total += entry.weight;
    kept.push_back(entry.state);
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_EQ(kept.size(), 12U);
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end());
  spread.clear();
}

TEST(SpreadOfPath, TakesEveryStateOnceWhereThereIsRoom) {
  const World world(std::vector<double>(20, 0.0));
  for (int steps = 1; steps <= 12; ++steps) {
    const auto count = static_cast<std::size_t>(steps);
    IntegerStates states(world.size());
    KeepSpread<IntegerStates> spread(states, count, CellDraw::own);
    spread.begin(Stream({9, 0, count}, Purpose::recycling));
    walk_integers(world, states, {3, 1, steps}, spread, no_steps);
    std::vector<int> kept;
    for (const auto& slot : spread.finish()) kept.push_back(slot.state);
    std::sort(kept.begin(), kept.end());
    for (int k = 1; k <= steps; ++k) EXPECT_EQ(kept.at(static_cast<std::size_t>(k - 1)), 3 + k);
    spread.clear();
  }
}

TEST(SimpleOfPath, SlotsFollowTheWeights) {
  for (const World& world : path_worlds()) {
    for (int steps = 1; steps <= 9; ++steps) expect_exact(world, steps, {Kind::simple, 1});
    for (int steps = 1; steps <= 5; ++steps) expect_exact(world, steps, {Kind::simple, 2});
    for (int steps = 1; steps <= 3; ++steps) expect_exact(world, steps, {Kind::simple, 3});
  }
}

TEST(AcceptEach, SlotsFollowTheWeights) {
  for (const World& world : path_worlds()) {
    for (int steps = 1; steps <= 8; ++steps) expect_exact(world, steps, {Kind::accept_each, 0});
  }
}

TEST(Stride, LeavesTheTargetInvariant) {
  for (const World& world : path_worlds()) {
    for (const std::size_t count : {1, 2, 3, 4, 9}) {
      for (int steps = 1; steps <= 8; ++steps) expect_exact(world, steps, {Kind::stride, count});
    }
  }
}

TEST(Stride, LooksAtEvenlySpacedStepsThatEndThePath) {
  for (std::uint64_t steps = 1; steps <= 40; ++steps) {
    for (std::size_t count = 1; count <= 50; ++count) {
      std::vector<std::uint64_t> looked;
      for (std::uint64_t k = 1; k <= steps; ++k) {
        if (is_recycled_step({RecyclingKind::stride, count}, k, steps)) looked.push_back(k);
        EXPECT_TRUE(is_recycled_step({RecyclingKind::accept_each, count}, k, steps));
        EXPECT_FALSE(is_recycled_step({RecyclingKind::spread, count}, k, steps));
      }
      std::vector<std::uint64_t> expected;
      const std::size_t number = std::min<std::size_t>(count, steps);
      for (std::size_t j = 1; j <= number; ++j) {
        expected.push_back((j * steps + number - 1) / number);  // ceil(j steps / K)
      }
      EXPECT_EQ(looked, expected);
    }
  }
}

// The chain itself, for any L: it moves to the end of the path or stays.
TEST(None, LeavesTheTargetInvariant) {
  for (const World& world : path_worlds()) {
    for (int steps = 1; steps <= 9; ++steps) {
      EXPECT_LT(path_bias(world, steps,
                          [&](const PathPlan& plan) {
                            IntegerStates states(world.size());
                            KeepNone keeper;
                            const WalkedPath walked =
                                walk_integers(world, states, plan, keeper, no_steps);
                            Tally next(world);
                            next[walked.end] += walked.outcome.acceptance;
                            next[plan.start] += 1 - walked.outcome.acceptance;
                            return next;
                          }),
                1e-12);
    }
  }
}

// Nishimura & Dunson (2020), Theorem 2: L is independent of the state, so either draws have equal
// weight (slots / L) or states have (slots), which gives longer paths more mass.
TEST(RandomLength, DrawsOrStatesMayHaveEqualWeights) {
  for (const World& world : path_worlds()) {
    for (const Kind kind : {Kind::accept_each, Kind::all}) {
      for (const bool by_steps : {false, true}) {
        EXPECT_LT(
            bias(world,
                 [&](int start) {
                   Tally kept(world);
                   for (const int sign : {-1, 1}) {
                     for (int steps = 2; steps <= 6; ++steps) {
                       const Tally slots = expected_slots(world, {start, sign, steps}, {kind, 0});
                       const double mass = by_steps ? steps : 1;
                       kept.add(mass / slots.total(), slots);
                     }
                   }
                   return kept;
                 }),
            1e-12);
      }
    }
  }
}

/// Sums `count(state, acceptance, slots)` over every step of a path.
template <class Count>
Tally count_steps(const World& world, const PathPlan& plan, Count&& count) {
  IntegerStates states(world.size());
  KeepNone keeper;
  Tally slots(world);
  walk_integers(world, states, plan, keeper, [&](std::uint64_t, int state, double acceptance) {
    count(state, acceptance, slots);
  });
  return slots;
}

// Plausible but wrong rules, which the same check rejects.
TEST(AcceptEach, RejectsLeavingOutTheMissingSteps) {
  for (const int steps : {3, 5, 8}) {
    const World world = bumpy_world(14).diverge_at(6);
    const auto keep = [&](bool count_missing) {
      return path_bias(world, steps, [&](const PathPlan& plan) {
        Tally kept = count_steps(world, plan, [&](int state, double acceptance, Tally& slots) {
          const bool missing = state == plan.start;
          if (missing && !count_missing) return;
          slots[state] += acceptance;
          slots[plan.start] += 1 - acceptance;
        });
        if (kept.total() == 0) kept[plan.start] = 1;
        Tally average(world);
        average.add(1 / kept.total(), kept);
        return average;
      });
    };
    EXPECT_LT(keep(true), 1e-12);
    EXPECT_GT(keep(false), 1e-3);
  }
}

TEST(AcceptEach, RejectsLeavingOutRejectedStates) {
  const World world = bumpy_world(14);
  EXPECT_GT(path_bias(world, 5,
                      [&](const PathPlan& plan) {
                        return count_steps(world, plan,
                                           [&](int state, double acceptance, Tally& slots) {
                                             slots[state] += acceptance;
                                           });
                      }),
            1e-3);
}

// (A single step is the exception: the path is the same from either state of the pair.)
TEST(AllOfPath, RejectsDensityWeightsOnAForwardPath) {
  for (const int steps : {2, 3, 5}) {
    const World world = bumpy_world(14);
    EXPECT_GT(path_bias(world, steps,
                        [&](const PathPlan& plan) {
                          Tally weights(world);
                          for (int k = 0; k <= steps; ++k) {
                            const int state = plan.start + plan.sign * k;
                            if (world.diverges(state)) break;
                            weights[state] = std::exp(world.log_density(state));
                          }
                          Tally normalised(world);
                          normalised.add(1 / weights.total(), weights);
                          return normalised;
                        }),
              1e-3);
  }
}

}  // namespace
}  // namespace rehmc::exact::path_exactness_test
