// The kernels agree with a plain implementation of the papers' pseudocode that stores everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference_nuts.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/features.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::reference_test {
namespace {

constexpr std::uint64_t seed = 20140401;
constexpr int transitions_per_chain = 25;

// Both sides do the same arithmetic up to the order of operations, so they differ by rounding. The
// dynamics amplify it, by a factor of three per step with very coarse steps; mistakes are far
// larger. A decision (turned? on the slice? accepted?) differs only if it depends on the last
// digits.
constexpr double position_tolerance = 1e-6;
constexpr double weight_tolerance = 1e-6;
/// Of weights that sum to 1; below this it does not matter whether a state is held.
constexpr double negligible_weight = 1e-100;

struct Setup {
  NamedTarget target;
  bool diagonal;
  double step_size;
  double start_scale;
  std::uint32_t chain;

  std::string describe() const {
    return target.name + (diagonal ? ", diagonal metric" : ", unit metric") + ", step " +
           std::to_string(step_size) + ", start " + std::to_string(start_scale);
  }
};

/// Half of the space is outside of the support, and in one place the model throws.
class Treacherous {
 public:
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    if (x[1] > 2) throw std::domain_error("too far");
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -x[i];
      sum += x[i] * x[i];
    }
    if (x[2] > 1.5) gradient[0] = std::numeric_limits<double>::quiet_NaN();
    return x[0] < -0.5 ? -std::numeric_limits<double>::infinity() : -0.5 * sum;
  }
  std::size_t dimension() const { return 3; }
};

/// All targets, with steps from too small for the depth limit to far beyond stability.
std::vector<Setup> all_setups() {
  std::vector<NamedTarget> targets = all_targets();
  // Two days of volatility do not determine a scale: if it runs away, paths are so unstable that
  // rounding errors grow beyond what can be compared.
  std::erase_if(targets, [](const NamedTarget& target) {
    return target.name.starts_with("stochastic volatility");
  });
  targets.push_back({"treacherous", Treacherous()});
  std::vector<Setup> setups;
  const auto add = [&](const NamedTarget& target, bool diagonal, double step_size, double scale) {
    const auto chain = static_cast<std::uint32_t>(setups.size());
    setups.push_back({target, diagonal, step_size, scale, chain});
  };
  for (const NamedTarget& target : targets) {
    for (const bool diagonal : {false, true}) {
      for (const double step_size : {0.01, 0.1, 0.4, 0.9, 2.5}) add(target, diagonal, step_size, 1);
      // From far out the energy falls by hundreds, more than a plain weight can represent.
      if (target.name.find("normal") != std::string::npos) {
        for (const double step_size : {0.2, 0.4, 0.9, 1.5}) {
          for (const double scale : {20, 40, 80, 160}) add(target, diagonal, step_size, scale);
        }
      }
    }
  }
  return setups;
}

/// Production and reference side by side, at one state.
struct Pair {
  Pair(const Setup& setup, const KernelSettings& settings)
      : system{setup.target.density, inverse_mass(setup), setup.step_size},
        kernel(make_kernel(setup.target.density, settings)),
        features(std::vector<double>(system.inverse_mass.size(), 0.25)),
        tuning{setup.step_size, setup.diagonal ? make_diagonal_metric(system.inverse_mass)
                                               : make_unit_metric(system.inverse_mass.size())} {
    std::vector<double> start(system.inverse_mass.size());
    Stream(Address{seed, setup.chain, 0}, Purpose::test).fill_normal(start);
    for (double& x : start) x = setup.start_scale * std::clamp(x, -0.4, 1.4);
    kernel->set_position(start);
    kernel->use_features(&features);
  }

  static std::vector<double> inverse_mass(const Setup& setup) {
    std::vector<double> values(setup.target.density.dimension(), 1.0);
    if (setup.diagonal) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.3 + 0.4 * static_cast<double>(i % 5);
      }
    }
    return values;
  }

  ReferenceState reference_start(const Address& address) {
    return system.begin(kernel->state().position, address);
  }

  ReferenceSystem system;
  std::unique_ptr<Kernel> kernel;
  MomentFeatures features;
  Tuning tuning;
};

/// Coordinate by coordinate, relative to the size of the vector.
::testing::AssertionResult same_vector(std::span<const double> actual,
                                       std::span<const double> expected) {
  if (actual.size() != expected.size()) return ::testing::AssertionFailure() << "sizes differ";
  double size = 1;
  for (const double x : expected) size = std::max(size, std::abs(x));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
    if (actual[i] == expected[i]) continue;  // infinities
    if (!(std::abs(actual[i] - expected[i]) <= position_tolerance * size)) {
      return ::testing::AssertionFailure()
             << "coordinate " << i << ": " << actual[i] << " instead of " << expected[i];
    }
  }
  return ::testing::AssertionSuccess();
}

/// States with their weights, in the order of the path.
struct Expected {
  std::vector<const ReferenceState*> states;
  std::vector<double> weights;
};

void expect_same_states(std::span<const WeightedState> actual, const Expected& expected) {
  std::vector<const WeightedState*> held;
  for (const WeightedState& state : actual) {
    if (state.weight > negligible_weight) held.push_back(&state);
  }
  std::size_t k = 0;
  for (std::size_t i = 0; i < expected.states.size(); ++i) {
    if (!(expected.weights[i] > negligible_weight)) continue;
    ASSERT_LT(k, held.size()) << "fewer states than there should be";
    EXPECT_TRUE(same_vector(held[k]->state.position, expected.states[i]->position));
    EXPECT_TRUE(same_vector(held[k]->state.gradient, expected.states[i]->gradient));
    EXPECT_NEAR(held[k]->weight, expected.weights[i], weight_tolerance) << "state " << i;
    ++k;
  }
  EXPECT_EQ(k, held.size()) << "more states than there should be";
}

/// The means of x - c and (x - c)^2 over all states equal the sums over the stored ones.
void expect_same_moments(const Transition& transition, const Expected& expected,
                         const MomentFeatures& features) {
  std::vector<double> means(features.size(), 0.0);
  for (std::size_t k = 0; k < expected.states.size(); ++k) {
    if (!(expected.weights[k] > negligible_weight)) continue;
    features.add(expected.weights[k], expected.states[k]->view(), means);
  }
  EXPECT_TRUE(same_vector(transition.feature_means.all, means));
}

void expect_same_divergence(const Transition& transition,
                            const std::optional<ReferenceDivergence>& expected) {
  ASSERT_EQ(transition.ending == Ending::diverged, expected.has_value());
  if (!expected) return;
  EXPECT_TRUE(same_vector(transition.divergence.start, expected->start.position));
  // A backward step is reported as a forward step with the opposite momentum.
  std::vector<double> momentum(expected->start.momentum);
  for (double& entry : momentum) entry *= expected->direction;
  EXPECT_TRUE(same_vector(transition.divergence.momentum, momentum));
  EXPECT_TRUE(same_vector(transition.divergence.end, expected->end.position));
}

void expect_same_energies(const Transition& transition, const ReferenceState& next,
                          const ReferenceState& start) {
  const double tolerance =
      position_tolerance * (1 + std::abs(next.energy) + std::abs(start.energy));
  EXPECT_NEAR(transition.energy, next.energy, tolerance);
  EXPECT_NEAR(transition.energy_error, next.energy - start.energy, tolerance);
}

template <class Reference>
void compare_nuts(KernelKind kind) {
  std::map<Ending, int> endings;
  std::size_t dropped_states = 0;
  int great_falls = 0;
  for (const Setup& setup : all_setups()) {
    SCOPED_TRACE(setup.describe());
    KernelSettings settings;
    settings.kind = kind;
    settings.recycling.kind = RecyclingKind::all;
    // Coarse steps amplify rounding quickly, so their trees are kept small.
    settings.nuts.max_depth = setup.step_size > 1 ? 3 : setup.step_size > 0.5 ? 4 : 7;
    Pair pair(setup, settings);
    for (int i = 1; i <= transitions_per_chain; ++i) {
      SCOPED_TRACE("transition " + std::to_string(i));
      const Address address{seed, setup.chain, static_cast<std::uint64_t>(i)};
      const ReferenceTrajectory expected =
          Reference(pair.system, settings.nuts, address).run(pair.reference_start(address));
      const Transition& transition = pair.kernel->transition(pair.tuning, address);
      ++endings[expected.ending];
      dropped_states += expected.dropped.size();
      great_falls += std::any_of(
          expected.committed.begin(), expected.committed.end(),
          [&](const auto& state) { return state.energy < expected.start.energy - 350; });

      ASSERT_EQ(describe(transition.ending), describe(expected.ending));
      ASSERT_EQ(transition.depth, expected.depth);
      ASSERT_EQ(transition.leapfrogs, expected.leapfrogs);
      EXPECT_EQ(expected.committed.size(), std::size_t{1} << expected.depth);
      EXPECT_NEAR(transition.acceptance, expected.acceptance, weight_tolerance);
      EXPECT_TRUE(same_vector(transition.state.position, expected.next.position));
      expect_same_energies(transition, expected.next, expected.start);
      expect_same_divergence(transition, expected.divergence);

      Expected states{{}, expected.weights()};
      for (const auto& state : expected.committed) states.states.push_back(&state);
      expect_same_states(transition.recycled, states);
      expect_same_moments(transition, states, pair.features);
      if (::testing::Test::HasFailure()) return;
    }
  }
  // The comparison is only meaningful if every ending occurred often.
  for (const Ending ending :
       {Ending::turned, Ending::turned_inside, Ending::diverged, Ending::depth_limit}) {
    EXPECT_GE(endings[ending], 100) << describe(ending);
  }
  EXPECT_GE(dropped_states, 1000U);
  EXPECT_GE(great_falls, 5);
}

TEST(Reference, SliceNutsIsAlgorithm3OfHoffmanAndGelman) {
  compare_nuts<ReferenceSliceNuts>(KernelKind::nuts_slice);
}

TEST(Reference, MultinomialNutsIsThatOfStan) {
  compare_nuts<ReferenceMultinomialNuts>(KernelKind::nuts);
}

/// What each kind of recycling keeps of a path.
Expected kept_of_path(const ReferencePath& path, const Recycling& recycling,
                      const Address& address) {
  const std::size_t length = path.acceptance.size();
  Expected kept;
  if (recycling.kind == RecyclingKind::all) {
    // Theorem 1 of Nishimura & Dunson (2020), with the coins averaged out; a missing step is a
    // rejection.
    kept.states.push_back(&path.start);
    kept.weights.push_back(0);
    for (std::size_t k = 1; k <= length; ++k) {
      const double a = path.acceptance[k - 1];
      kept.weights[0] += (1 - a) / static_cast<double>(length);
      if (k > path.steps.size()) continue;
      kept.states.push_back(&path.steps[k - 1]);
      kept.weights.push_back(a / static_cast<double>(length));
    }
    return kept;
  }
  // Their Algorithm 1: every step that counts has a coin, the last one that of the chain.
  Stream coins(address, Purpose::recycling);
  const double last_coin = Stream(address, Purpose::acceptance).uniform();
  const std::size_t count =
      recycling.kind == RecyclingKind::stride ? std::min(recycling.count, length) : length;
  for (std::size_t j = 1; j <= count; ++j) {
    const std::size_t k = (j * length + count - 1) / count;  // ceil(j L / K)
    kept.states.push_back(&path.accept(k, k == length ? last_coin : coins.uniform()));
    kept.weights.push_back(1 / static_cast<double>(count));
  }
  return kept;
}

void compare_paths(const HmcSettings& path_settings) {
  std::map<Ending, int> endings;
  for (const Setup& setup : all_setups()) {
    SCOPED_TRACE(setup.describe());
    for (const Recycling recycling :
         {Recycling{RecyclingKind::all, 0}, Recycling{RecyclingKind::accept_each, 0},
          Recycling{RecyclingKind::stride, 4}}) {
      SCOPED_TRACE(describe(recycling));
      KernelSettings settings;
      settings.kind = KernelKind::hmc;
      settings.recycling = recycling;
      settings.hmc = path_settings;
      Pair pair(setup, settings);
      for (int i = 1; i <= transitions_per_chain; ++i) {
        SCOPED_TRACE("transition " + std::to_string(i));
        const Address address{seed, setup.chain, static_cast<std::uint64_t>(i)};
        const std::size_t length = reference_path_steps(settings.hmc, setup.step_size, address);
        const ReferencePath expected = reference_path(pair.system, pair.reference_start(address),
                                                      length, settings.hmc.max_energy_error);
        const Transition& transition = pair.kernel->transition(pair.tuning, address);
        ++endings[transition.ending];

        ASSERT_EQ(transition.ending, expected.divergence ? Ending::diverged : Ending::completed);
        ASSERT_EQ(transition.leapfrogs, expected.steps.size() + (expected.divergence ? 1 : 0));
        EXPECT_EQ(transition.mass, settings.masses_differ() ? static_cast<double>(length) : 1.0);
        EXPECT_NEAR(transition.acceptance, expected.acceptance.back(), weight_tolerance);
        const ReferenceState& next =
            expected.accept(length, Stream(address, Purpose::acceptance).uniform());
        EXPECT_TRUE(same_vector(transition.state.position, next.position));
        expect_same_energies(transition, next, expected.start);
        expect_same_divergence(transition, expected.divergence);
        expect_same_states(transition.recycled, kept_of_path(expected, recycling, address));
        expect_same_moments(transition, kept_of_path(expected, {RecyclingKind::all, 0}, address),
                            pair.features);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GE(endings[Ending::completed], 1000);
  EXPECT_GE(endings[Ending::diverged], 100);
}

TEST(Reference, PathsOfFixedLength) { compare_paths({.path_steps = 11}); }

TEST(Reference, PathsOfUniformLength) { compare_paths({.path_steps = 1, .path_steps_most = 20}); }

TEST(Reference, PathsOfJitteredLength) {
  compare_paths({.path_length = 2.5, .jitter_least = 0.5, .jitter_most = 1});
}

}  // namespace
}  // namespace rehmc::testing::reference_test
