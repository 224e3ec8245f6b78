// Trajectories of the reference implementation: correct weights pass the tests, wrong ones fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "law_targets.hpp"
#include "reference_nuts.hpp"

namespace rehmc::testing::weights_law_test {
namespace {

/// A weighted set of states, and how much the whole draw counts.
struct WeighedDraw {
  std::vector<const ReferenceState*> states;
  std::vector<double> weights;
  double mass = 1;

  void add(const ReferenceState& state, double weight) {
    states.push_back(&state);
    weights.push_back(weight);
  }
};

constexpr std::size_t path_steps = 4;

/// The scores of one transition from each of many exact draws, with the trajectory that
/// `move(start, address)` makes and the weights that `weigh(trajectory)` gives it.
template <class Move, class Weigh>
ZScores control_scores(std::size_t target_number, ReferenceSystem& system, const Move& move,
                       const Weigh& weigh) {
  const LawTarget& target = law_targets()[target_number];
  const Observables& observables = target.observables;
  const auto chain = static_cast<std::uint32_t>(100000 + target_number);
  ZScores result(observables.size());
  std::vector<double> x(target.density.dimension());
  for (std::uint64_t r = 0; r < replicates; ++r) {
    const Address address{seed, chain, r};
    Stream stream(address, Purpose::test);
    target.sample(stream, x);
    const auto trajectory = move(system.begin(x, address), address);
    const WeighedDraw draw = weigh(trajectory);
    double total = 0;
    for (const double weight : draw.weights) total += weight;
    std::vector<double> values(observables.size(), 0.0);
    for (std::size_t k = 0; k < draw.states.size(); ++k) {
      if (!(draw.weights[k] > 0)) continue;
      observables.add(draw.weights[k] / total, draw.states[k]->view(), values);
    }
    std::vector<double> deviations(observables.size(), 0.0);
    add_deviation(deviations, draw.mass, values, observables.expectations());
    result.add(deviations);
  }
  return result;
}

/// The reference supports only diagonal metrics, so the banana's metric has no correlation here.
ReferenceSystem reference_system(const LawTarget& target, double step_size) {
  return {target.density, target.metric->inverse_diagonal(), step_size};
}

template <class Reference, class Weigh>
::testing::AssertionResult trees_follow_law(std::size_t target_number, const Weigh& weigh) {
  const LawTarget& target = law_targets()[target_number];
  ReferenceSystem system = reference_system(target, target.nuts_step_size);
  const auto move = [&](ReferenceState start, const Address& address) {
    return Reference(system, {}, address).run(std::move(start));
  };
  return follows_law(control_scores(target_number, system, move, weigh), target.observables)
         << ", " << target.name;
}

template <class Weigh>
::testing::AssertionResult paths_follow_law(std::size_t target_number, const Weigh& weigh) {
  const LawTarget& target = law_targets()[target_number];
  ReferenceSystem system = reference_system(target, target.hmc_step_size);
  const auto move = [&](ReferenceState start, const Address&) {
    return reference_path(system, std::move(start), path_steps, HmcSettings{}.max_energy_error);
  };
  return follows_law(control_scores(target_number, system, move, weigh), target.observables)
         << ", " << target.name;
}

WeighedDraw by_log_weight(const ReferenceTrajectory& trajectory) {
  WeighedDraw draw;
  for (const auto& state : trajectory.committed) draw.add(state, std::exp(state.log_weight));
  return draw;
}

/// Mistake: the last half counts although it turned or diverged inside.
WeighedDraw with_dropped_half(const ReferenceTrajectory& trajectory) {
  WeighedDraw draw = by_log_weight(trajectory);
  for (const auto& state : trajectory.dropped) draw.add(state, std::exp(state.log_weight));
  return draw;
}

/// Mistake: all acceptable states of all draws are pooled, so that draws with many count more.
WeighedDraw pooled(const ReferenceTrajectory& trajectory) {
  WeighedDraw draw = by_log_weight(trajectory);
  draw.mass = 0;
  for (const double weight : draw.weights) draw.mass += weight;
  return draw;
}

/// Mistake: all states of the tree have equal weights, regardless of slice and density.
WeighedDraw all_alike(const ReferenceTrajectory& trajectory) {
  WeighedDraw draw;
  for (const auto& state : trajectory.committed) draw.add(state, 1);
  return draw;
}

WeighedDraw by_acceptance(const ReferencePath& path) {
  WeighedDraw draw;
  draw.add(path.start, 0);
  for (std::size_t k = 0; k < path.acceptance.size(); ++k) {
    draw.weights[0] += 1 - path.acceptance[k];
    if (k < path.steps.size()) draw.add(path.steps[k], path.acceptance[k]);
  }
  return draw;
}

/// Mistake: weights by density, as on a tree, though the path starts at its end.
WeighedDraw by_density(const ReferencePath& path) {
  WeighedDraw draw;
  draw.add(path.start, 1);
  for (const auto& state : path.steps) draw.add(state, std::exp(path.start.energy - state.energy));
  return draw;
}

/// Mistake: steps that a divergence cut off are left out instead of counting as rejections.
WeighedDraw without_missing_steps(const ReferencePath& path) {
  WeighedDraw draw;
  draw.add(path.start, path.steps.empty() ? 1 : 0);
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    draw.weights[0] += 1 - path.acceptance[k];
    draw.add(path.steps[k], path.acceptance[k]);
  }
  return draw;
}

/// Mistake: rejected steps are left out instead of repeating the start.
WeighedDraw without_rejections(const ReferencePath& path) {
  WeighedDraw draw;
  double accepted = 0;
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    draw.add(path.steps[k], path.acceptance[k]);
    accepted += path.acceptance[k];
  }
  draw.add(path.start, accepted > 0 ? 0 : 1);
  return draw;
}

/// A tempered path (Neal 2010, section 5.5.7): every step multiplies the momentum by sqrt(alpha)
/// before and after in the first half, and divides it by that in the second. With the Jacobian,
/// alpha^d per step of the first half, its end is a valid proposal.
ReferencePath tempered_path(ReferenceSystem& system, ReferenceState start) {
  constexpr double stretch = 1.3;  // sqrt(alpha)
  const auto stretched = [&](ReferenceState state, double factor) {
    for (double& p : state.momentum) p *= factor;
    state.energy = system.energy_of(state);
    return state;
  };
  ReferencePath path;
  path.start = start;
  double log_jacobian = 0;
  ReferenceState at = std::move(start);
  for (std::size_t k = 0; k < path_steps; ++k) {
    const double factor = k < path_steps / 2 ? stretch : 1 / stretch;
    at = stretched(system.step(stretched(std::move(at), factor), 1), factor);
    log_jacobian += 2 * std::log(factor) * static_cast<double>(at.momentum.size());
    path.acceptance.push_back(
        std::min(1.0, std::exp(path.start.energy - at.energy + log_jacobian)));
    path.steps.push_back(at);
  }
  return path;
}

/// The end of the path alone.
WeighedDraw by_end(const ReferencePath& path) {
  WeighedDraw draw;
  draw.add(path.start, 1 - path.acceptance.back());
  draw.add(path.steps.back(), path.acceptance.back());
  return draw;
}

template <class Weigh>
::testing::AssertionResult tempered_paths_follow_law(std::size_t target_number,
                                                     const Weigh& weigh) {
  const LawTarget& target = law_targets()[target_number];
  ReferenceSystem system = reference_system(target, target.hmc_step_size);
  const auto move = [&](ReferenceState start, const Address&) {
    return tempered_path(system, std::move(start));
  };
  return follows_law(control_scores(target_number, system, move, weigh), target.observables)
         << ", " << target.name;
}

/// The states of a path that begins within itself, in its order, and which of them the start is.
struct ReferenceTwoWay {
  std::vector<ReferenceState> states;
  std::size_t start = 0;
  std::size_t back = 0;  ///< steps before the start, also those that a divergence cut off

  /// The number of a state on the path that no divergence cut off.
  std::size_t number(std::size_t k) const { return back + k - start; }
};

constexpr std::size_t two_way_steps = 6;
constexpr std::size_t window = 2;

ReferenceTwoWay two_way_path(ReferenceSystem& system, const ReferenceState& start,
                             std::size_t back) {
  const double limit = HmcSettings{}.max_energy_error;
  ReferenceState reversed = start;
  for (double& p : reversed.momentum) p = -p;
  ReferenceTwoWay path;
  path.back = back;
  path.states = reference_path(system, reversed, back, limit).steps;
  std::reverse(path.states.begin(), path.states.end());
  path.start = path.states.size();
  path.states.push_back(start);
  for (const auto& state : reference_path(system, start, two_way_steps - back, limit).steps) {
    path.states.push_back(state);
  }
  return path;
}

/// By density, over states whose numbers on the path are in [from, to).
void add_by_density(WeighedDraw& draw, const ReferenceTwoWay& path, std::size_t from,
                    std::size_t to, double mass) {
  const double least = path.states[path.start].energy;
  double total = 0;
  for (const bool count : {true, false}) {
    for (std::size_t k = 0; k < path.states.size(); ++k) {
      if (path.number(k) < from || path.number(k) >= to) continue;
      const double density = std::exp(least - path.states[k].energy);
      if (count) {
        total += density;
      } else {
        draw.add(path.states[k], mass * density / total);
      }
    }
  }
}

WeighedDraw by_density_of_both_ways(const ReferenceTwoWay& path) {
  WeighedDraw draw;
  add_by_density(draw, path, 0, two_way_steps + 1, 1);
  return draw;
}

/// Neal (1994): the last window is chosen with the probability that its density has over that of
/// the first, at most 1; or always, by mistake.
WeighedDraw by_windows_of(const ReferenceTwoWay& path, bool always_last) {
  const std::size_t last = two_way_steps + 1 - window;
  double first_total = 0;
  double last_total = 0;
  for (std::size_t k = 0; k < path.states.size(); ++k) {
    const double density = std::exp(path.states[path.start].energy - path.states[k].energy);
    if (path.number(k) < window) first_total += density;
    if (path.number(k) >= last) last_total += density;
  }
  const double chosen = always_last && last_total > 0 ? 1 : std::min(1.0, last_total / first_total);
  WeighedDraw draw;
  add_by_density(draw, path, 0, window, 1 - chosen);
  add_by_density(draw, path, last, two_way_steps + 1, chosen);
  return draw;
}
WeighedDraw by_windows(const ReferenceTwoWay& path) { return by_windows_of(path, false); }

/// Mistake: the last window is recycled as if it were always accepted.
WeighedDraw by_last_window(const ReferenceTwoWay& path) { return by_windows_of(path, true); }

/// `steps_back(uniform)` places the start.
template <class Back, class Weigh>
::testing::AssertionResult two_way_paths_follow_law(std::size_t target_number,
                                                    const Back& steps_back, const Weigh& weigh) {
  const LawTarget& target = law_targets()[target_number];
  ReferenceSystem system = reference_system(target, target.hmc_step_size);
  const auto move = [&](const ReferenceState& start, const Address& address) {
    return two_way_path(system, start, steps_back(Stream(address, Purpose::path_length).uniform()));
  };
  return follows_law(control_scores(target_number, system, move, weigh), target.observables)
         << ", " << target.name;
}

std::size_t anywhere(double uniform) {
  return static_cast<std::size_t>(uniform * (two_way_steps + 1));
}
/// Mistake: from another state of the same path the path would be another one.
std::size_t in_the_middle(double /*uniform*/) { return two_way_steps / 2; }
std::size_t in_the_first_window(double uniform) {
  return static_cast<std::size_t>(uniform * window);
}
/// Mistake: a state of the first window is reached from one of its states only.
std::size_t at_the_beginning(double /*uniform*/) { return 0; }

/// The states of short chains that keep most of their momentum, and change its sign where a path is
/// rejected, or do not.
::testing::AssertionResult persistent_chains_follow_law(std::size_t target_number, bool flip) {
  constexpr double share = 0.9;
  constexpr std::uint64_t chain_length = 6;
  const LawTarget& target = law_targets()[target_number];
  ReferenceSystem system = reference_system(target, target.hmc_step_size);
  const auto move = [&](ReferenceState state, const Address& address) {
    for (std::uint64_t t = 0; t < chain_length; ++t) {
      const Address next{address.seed, address.chain, address.iteration * chain_length + t};
      const ReferenceState fresh = system.begin(state.position, next);
      for (std::size_t i = 0; i < state.momentum.size(); ++i) {
        state.momentum[i] =
            share * state.momentum[i] + std::sqrt(1 - share * share) * fresh.momentum[i];
      }
      state.energy = system.energy_of(state);
      const ReferencePath path = reference_path(system, state, 2, HmcSettings{}.max_energy_error);
      if (Stream(next, Purpose::acceptance).uniform() < path.acceptance.back()) {
        state = path.steps.back();
      } else if (flip) {
        for (double& p : state.momentum) p = -p;
      }
    }
    return state;
  };
  const auto weigh = [](const ReferenceState& state) {
    WeighedDraw draw;
    draw.add(state, 1);
    return draw;
  };
  return follows_law(control_scores(target_number, system, move, weigh), target.observables)
         << ", " << target.name;
}

class RightWeights : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RightWeights, Pass) {
  EXPECT_TRUE(trees_follow_law<ReferenceMultinomialNuts>(GetParam(), by_log_weight));
  EXPECT_TRUE(trees_follow_law<ReferenceSliceNuts>(GetParam(), by_log_weight));
  EXPECT_TRUE(paths_follow_law(GetParam(), by_acceptance));
  EXPECT_TRUE(persistent_chains_follow_law(GetParam(), true));
  EXPECT_TRUE(two_way_paths_follow_law(GetParam(), anywhere, by_density_of_both_ways));
  EXPECT_TRUE(two_way_paths_follow_law(GetParam(), in_the_first_window, by_windows));
  if (GetParam() != half_normal) {
    EXPECT_TRUE(tempered_paths_follow_law(GetParam(), by_end));
  }
}

INSTANTIATE_TEST_SUITE_P(Law, RightWeights, ::testing::Range<std::size_t>(0, target_count),
                         [](const auto& parameter) { return law_targets()[parameter.param].name; });

// The z-scores in brackets show how clearly each mistake is detected; the threshold is 5.9.

// [11 to 28]
TEST(WrongWeights, RecyclingTheDroppedHalfFails) {
  for (std::size_t target = 0; target < target_count; ++target) {
    EXPECT_FALSE(trees_follow_law<ReferenceMultinomialNuts>(target, with_dropped_half));
    EXPECT_FALSE(trees_follow_law<ReferenceSliceNuts>(target, with_dropped_half));
  }
}

// [24 to 101]
TEST(WrongWeights, PoolingAcceptableStatesOfAllDrawsFails) {
  for (std::size_t target = 0; target < target_count; ++target) {
    EXPECT_FALSE(trees_follow_law<ReferenceSliceNuts>(target, pooled));
  }
}

// [82 to 99; on the half normal the energy error is too small to see it]
TEST(WrongWeights, EqualWeightsWithoutTheSliceFail) {
  for (const std::size_t target : {log_exponential, banana, funnel}) {
    EXPECT_FALSE(trees_follow_law<ReferenceMultinomialNuts>(target, all_alike));
    EXPECT_FALSE(trees_follow_law<ReferenceSliceNuts>(target, all_alike));
  }
}

// [21 and 16; 6 on the banana, 4 on the funnel]
TEST(WrongWeights, DensityWeightsOnAForwardPathFail) {
  for (const std::size_t target : {log_exponential, half_normal}) {
    EXPECT_FALSE(paths_follow_law(target, by_density));
  }
}

TEST(WrongWeights, RecyclingATemperedPathFails) {
  for (const std::size_t target : {log_exponential, banana, funnel}) {
    EXPECT_FALSE(tempered_paths_follow_law(target, by_acceptance));
  }
}

TEST(WrongWeights, KeepingTheMomentumWhereAPathIsRejectedFails) {
  for (std::size_t target = 0; target < target_count; ++target) {
    EXPECT_FALSE(persistent_chains_follow_law(target, false));
  }
}

// [18 to 25; 6 on the funnel]
TEST(WrongWeights, SymmetricPathsThatAlwaysStartInTheMiddleFail) {
  for (const std::size_t target : {log_exponential, banana, half_normal}) {
    EXPECT_FALSE(two_way_paths_follow_law(target, in_the_middle, by_density_of_both_ways));
  }
}

// [8 to 14; 4 on the funnel]
TEST(WrongWeights, WindowedPathsThatAlwaysStartAtTheBeginningFail) {
  for (const std::size_t target : {log_exponential, banana, half_normal}) {
    EXPECT_FALSE(two_way_paths_follow_law(target, at_the_beginning, by_windows));
  }
}

// [13 to 112]
TEST(WrongWeights, RecyclingTheLastWindowAloneFails) {
  for (std::size_t target = 0; target < target_count; ++target) {
    EXPECT_FALSE(two_way_paths_follow_law(target, in_the_first_window, by_last_window));
  }
}

// [31 to 78]
TEST(WrongWeights, LeavingOutRejectedStepsFails) {
  for (std::size_t target = 0; target < target_count; ++target) {
    EXPECT_FALSE(paths_follow_law(target, without_rejections));
  }
}

// [32; elsewhere a path is unacceptable long before it diverges]
TEST(WrongWeights, LeavingOutStepsBeyondADivergenceFails) {
  EXPECT_FALSE(paths_follow_law(half_normal, without_missing_steps));
}

}  // namespace
}  // namespace rehmc::testing::weights_law_test
