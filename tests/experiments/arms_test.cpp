// In expectation every arm uses each state of a trajectory with its weight; shares sum to 1.
#include "experiments/arms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace rehmc::experiments::arms_test {
namespace {

std::vector<WeightedState> states_of(const std::vector<double>& weights) {
  std::vector<WeightedState> states;
  for (const double weight : weights) states.push_back({{}, weight});
  return states;
}

/// Worst |z| over states of the mean share of an arm against `expected`, and how far the sum of the
/// shares of a trajectory is from 1, over many equal trajectories.
struct Deviation {
  double worst_z = 0;
  double worst_sum = 0;
};

struct Trajectory {
  std::vector<double> weights;
  std::size_t start;  ///< beyond the last: not listed
  std::size_t steps;
  /// Where the chain goes next; a random choice by weight unless the kernel decides.
  std::function<std::size_t(Stream&)> next;
};

constexpr int repetitions = 20'000;

Deviation deviation(const Arm& arm, const Trajectory& trajectory,
                    const std::vector<double>& expected) {
  const std::vector<WeightedState> states = states_of(trajectory.weights);
  const std::size_t n = states.size();
  std::vector<double> sums(n);
  std::vector<double> squares(n);
  ArmShares shares({arm});
  Deviation result;
  for (std::uint64_t r = 0; r < repetitions; ++r) {
    const Address address{11, 0, r};
    Stream stream(address, Purpose::test);
    shares.share({states, trajectory.next(stream), trajectory.start, trajectory.steps}, address);
    std::vector<double> share(n);
    double sum = 0;
    for (const auto& [state, weight] : shares.of(0)) {
      share.at(state) += weight;
      sum += weight;
    }
    result.worst_sum = std::max(result.worst_sum, std::abs(sum - 1));
    for (std::size_t s = 0; s < n; ++s) {
      sums[s] += share[s];
      squares[s] += share[s] * share[s];
    }
  }
  for (std::size_t s = 0; s < n; ++s) {
    const double mean = sums[s] / repetitions;
    const double variance = squares[s] / repetitions - mean * mean;
    // What never varies must be correct up to rounding.
    const double error = std::sqrt(std::max(variance, 1e-20) / repetitions);
    result.worst_z = std::max(result.worst_z, std::abs(mean - expected[s]) / error);
  }
  return result;
}

/// Draws by weight.
std::function<std::size_t(Stream&)> by_weight(const std::vector<double>& weights) {
  return [weights](Stream& stream) {
    double left = stream.uniform();
    std::size_t s = 0;
    while (s + 1 < weights.size() && left >= weights[s]) left -= weights[s++];
    return s;
  };
}

std::string name_of(const Arm& arm) {
  return describe(arm.family) + ":" + std::to_string(arm.count);
}

// 5 standard errors; with about 500 comparisons in this file, a false alarm in 3000.
constexpr double limit = 5;

TEST(Arms, UseStatesOfATreeByTheirWeights) {
  const std::vector<std::vector<double>> trees{
      {1},                                            // a chain that stays
      {0.2, 0.2, 0.2, 0.2, 0.2},                      // slice: equal weights
      {0.4, 0.05, 0.3, 0.01, 0.14, 0.02, 0.07, 0.01}  // multinomial
  };
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice}) {
    for (const std::vector<double>& weights : trees) {
      const Trajectory tree{weights, 0, weights.size() - 1, by_weight(weights)};
      for (const Arm& arm : arms_of(kind, 6, 8)) {
        const Deviation found = deviation(arm, tree, weights);
        EXPECT_LT(found.worst_z, limit) << name_of(arm) << " of " << weights.size();
        EXPECT_LT(found.worst_sum, 1e-12) << name_of(arm);
      }
    }
  }
}

TEST(Arms, UseStatesOfAPathByTheirWeights) {
  // The weight of a step is a_k / L, that of the start what is left. The chain goes to the end of
  // the path by a_L, or stays: its final state is no draw by weight, so plain and the final state
  // have another mean.
  const std::vector<double> acceptance{0.9, 1, 0.4, 0.7};
  const double steps = 4;
  std::vector<double> weights{1};
  for (const double a : acceptance) {
    weights.push_back(a / steps);
    weights.front() -= a / steps;
  }
  const Trajectory path{weights, 0, 4, [](Stream& stream) { return stream.chance(0.7) ? 4U : 0U; }};
  const std::vector<double> of_chain{0.3, 0, 0, 0, 0.7};
  for (const Arm& arm : arms_of(KernelKind::hmc, 3, 8)) {
    std::vector<double> expected = arm.family == Family::plain ? of_chain : weights;
    if (arm.family == Family::stride) {
      // Steps 4, 4 - K, ...; what is rejected counts for the start.
      const auto count = static_cast<double>((4 + arm.count - 1) / arm.count);
      expected.assign(5, 0);
      expected[0] = 1;
      for (std::size_t k = 4; k >= 1 && k <= 4; k -= std::min(k, arm.count)) {
        expected[k] = acceptance[k - 1] / count;
        expected[0] -= expected[k];
      }
    }
    const Deviation found = deviation(arm, path, expected);
    EXPECT_LT(found.worst_z, limit) << name_of(arm);
    EXPECT_LT(found.worst_sum, 1e-12) << name_of(arm);
  }
}

TEST(Arms, PathWithoutItsStartAcceptsAll) {
  const std::vector<double> weights(5, 0.2);
  const Trajectory path{weights, 5, 5, [](Stream&) { return 4U; }};
  const Deviation found = deviation({Family::stride, 1}, path, weights);
  EXPECT_LT(found.worst_z, limit);
  EXPECT_LT(found.worst_sum, 1e-12);
}

TEST(Arms, EveryRecycledStateCountsAlike) {
  // Theorem 2: a draw counts as many states as it has in the arm; the plain chain's draws count
  // alike.
  const std::vector<WeightedState> states = states_of(std::vector<double>(7, 1.0 / 7));
  ArmShares shares({{Family::plain, 1},
                    {Family::all, 0},
                    {Family::by_draw, 0},
                    {Family::spread, 2},
                    {Family::stride, 1},
                    {Family::stride, 3}});
  shares.share({states, 6, 7, 7, 7}, {3, 0, 0});
  const double expected[] = {1, 7, 1, 7, 7, 3};
  for (std::size_t arm = 0; arm < 6; ++arm) EXPECT_EQ(shares.mass(arm), expected[arm]) << arm;
  std::vector<std::size_t> strided;
  for (const Share& share : shares.of(5)) strided.push_back(share.state);
  EXPECT_EQ(strided, (std::vector<std::size_t>{0, 3, 6}));  // steps 1, 4 and 7
}

TEST(Arms, StepsThatADivergenceCutOffAreRejected) {
  // Two of four steps are left, accepted surely; the chain stays.
  const std::vector<WeightedState> states = states_of({0.5, 0.25, 0.25});
  ArmShares shares({{Family::stride, 2}});
  shares.share({states, 0, 0, 4, 4}, {3, 0, 0});
  ASSERT_EQ(shares.of(0).size(), 2U);
  EXPECT_EQ(shares.of(0)[0].state, 2U);
  EXPECT_EQ(shares.of(0)[1].state, 0U);
  EXPECT_EQ(shares.of(0)[1].weight, 0.5);
}

TEST(Arms, WrongWeightsAreFound) {
  // The control: weights that are off by a fiftieth would not pass.
  const std::vector<double> weights{0.4, 0.1, 0.2, 0.3};
  const std::vector<double> wrong{0.42, 0.08, 0.2, 0.3};
  const Trajectory tree{weights, 0, 3, by_weight(weights)};
  for (const Arm& arm : arms_of(KernelKind::nuts, 4, 4)) {
    EXPECT_GT(deviation(arm, tree, wrong).worst_z, limit) << name_of(arm);
  }
}

TEST(Arms, SpreadStatesAreEvenlySpread) {
  // 4 of 8 equal states: every second one.
  const std::vector<WeightedState> states = states_of(std::vector<double>(8, 0.125));
  ArmShares shares({{Family::spread, 4}});
  for (std::uint64_t r = 0; r < 50; ++r) {
    shares.share({states, 0, 0, 7}, {3, 0, r});
    const auto found = shares.of(0);
    ASSERT_EQ(found.size(), 4U);
    for (std::size_t j = 1; j < 4; ++j) EXPECT_EQ(found[j].state - found[j - 1].state, 2U);
  }
}

TEST(Arms, SimpleDrawsHaveNoCopiesUntilAllStatesAreIn) {
  const std::vector<WeightedState> states = states_of(std::vector<double>(3, 1.0 / 3));
  ArmShares shares({{Family::simple, 2}, {Family::simple, 8}});
  for (std::uint64_t r = 0; r < 50; ++r) {
    shares.share({states, 0, 0, 2}, {3, 0, r});
    ASSERT_EQ(shares.of(0).size(), 2U);
    EXPECT_NE(shares.of(0)[0].state, shares.of(0)[1].state);
    for (const Share& share : shares.of(1)) {  // 2, 3 and 3 times
      const double times = 8 * share.weight;
      EXPECT_TRUE(std::abs(times - 2) < 1e-9 || std::abs(times - 3) < 1e-9) << times;
    }
  }
}

TEST(Arms, PaperCountIsAmongThem) {
  for (const KernelKind kind : {KernelKind::hmc, KernelKind::nuts}) {
    const std::vector<Arm> arms = arms_of(kind, 45, 64);
    EXPECT_EQ(std::count(arms.begin(), arms.end(), Arm{paper_family(kind), 45}), 1);
    EXPECT_EQ(arms[0], (Arm{Family::plain, 1}));
    EXPECT_EQ(arms[1], (Arm{Family::all, 0}));
    EXPECT_EQ(paper_family(kind) == Family::stride, kind == KernelKind::hmc);
  }
  const std::vector<Arm> arms = arms_of(KernelKind::nuts, 16, 32);
  EXPECT_EQ(std::count(arms.begin(), arms.end(), Arm{Family::final_state, 16}), 1);
}

}  // namespace
}  // namespace rehmc::experiments::arms_test
