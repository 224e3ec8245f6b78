// The chain is the same whatever is recycled, and the recycled states are consistent with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::mechanics_chain_test {
namespace {

using testing::address;
using testing::copy;
using testing::every_kernel;
using testing::every_recycling;
using testing::kernel_at_start;
using testing::kernel_settings;
using testing::Numbers;
using testing::Walled;

/// Everything that a transition reports about the chain itself, as plain numbers.
Numbers told_of_the_chain(const Transition& transition) {
  Numbers told = copy(transition.state.position);
  const auto append = [&](std::span<const double> more) {
    told.insert(told.end(), more.begin(), more.end());
  };
  append(transition.state.gradient);
  append(Numbers{transition.state.log_density, transition.mass, transition.acceptance,
                 transition.step_size, transition.energy, transition.energy_error,
                 transition.path_length, static_cast<double>(transition.depth),
                 static_cast<double>(transition.leapfrogs),
                 static_cast<double>(transition.ending)});
  if (transition.ending == Ending::diverged) {
    append(transition.divergence.start);
    append(transition.divergence.momentum);
    append(transition.divergence.end);
    told.push_back(static_cast<double>(transition.divergence.fault));
  }
  return told;
}

constexpr std::size_t dimension = 5;
constexpr std::uint64_t transitions = 150;

Walled walled_target() { return {dimension, 1.5, Fault::exception}; }

TEST(Chain, IsTheSameForEveryRecyclingAndFeature) {
  const MomentFeatures moments(Numbers(dimension, 0.1));
  for (const KernelKind kind : every_kernel) {
    for (const Tuning& tuning :
         {testing::diagonal_tuning(dimension, 0.35), testing::dense_tuning(dimension, 0.35)}) {
      std::vector<Numbers> expected;
      std::size_t diverged = 0;
      auto plain = kernel_at_start(walled_target(), kernel_settings(kind, {RecyclingKind::none}));
      for (std::uint64_t i = 0; i < transitions; ++i) {
        const Transition& transition = plain->transition(tuning, address(i));
        expected.push_back(told_of_the_chain(transition));
        diverged += transition.ending == Ending::diverged;
      }
      ASSERT_GT(diverged, 3U) << "no divergence would be compared";
      for (const Recycling& recycling : every_recycling(kind)) {
        for (const Features* features :
             {static_cast<const Features*>(nullptr), static_cast<const Features*>(&moments)}) {
          SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
          auto kernel = kernel_at_start(walled_target(), kernel_settings(kind, recycling));
          kernel->use_features(features);
          for (std::uint64_t i = 0; i < transitions; ++i) {
            const Transition& transition = kernel->transition(tuning, address(i));
            ASSERT_EQ(told_of_the_chain(transition), expected[i]) << "transition " << i;
            ASSERT_EQ(transition.feature_means.all.size(), features ? features->size() : 0);
          }
        }
      }
    }
  }
}

TEST(Chain, DependsOnEveryPartOfItsAddress) {
  for (const KernelKind kind : every_kernel) {
    const Tuning tuning = testing::diagonal_tuning(dimension, 0.35);
    const auto momentum_energy = [&](const Address& where) {
      auto kernel = kernel_at_start(walled_target(), kernel_settings(kind, {}));
      const Transition& transition = kernel->transition(tuning, where);
      return transition.energy - transition.energy_error;
    };
    const double here = momentum_energy({1, 2, 3});
    EXPECT_EQ(here, momentum_energy({1, 2, 3}));
    EXPECT_NE(here, momentum_energy({0, 2, 3}));
    EXPECT_NE(here, momentum_energy({1, 0, 3}));
    EXPECT_NE(here, momentum_energy({1, 2, 0}));
  }
}

/// How many slots a kept state takes, by position.
std::map<Numbers, double> weight_by_position(const Transition& transition) {
  std::map<Numbers, double> weights;
  for (const WeightedState& kept : transition.recycled) {
    weights[copy(kept.state.position)] += kept.weight;
  }
  return weights;
}

/// Whether a state that fills several slots is kept once, with their total weight. With unequal
/// weights, `simple` draws its slots one by one.
bool keeps_no_copies(KernelKind kernel, const Recycling& recycling) {
  const bool shared = recycling.kind == RecyclingKind::spread ||
                      recycling.kind == RecyclingKind::recursive ||
                      (recycling.kind == RecyclingKind::simple && kernel == KernelKind::nuts_slice);
  return shared && recycling.count > most_copies;
}

std::size_t expected_slots(KernelKind kernel, const Recycling& recycling,
                           const Transition& transition, std::uint64_t path_steps) {
  if (keeps_no_copies(kernel, recycling)) return weight_by_position(transition).size();
  switch (recycling.kind) {
    case RecyclingKind::none:
      return 1;
    case RecyclingKind::spread:
    case RecyclingKind::simple:
    case RecyclingKind::recursive:
      return recycling.count;
    case RecyclingKind::accept_each:
      return path_steps;
    case RecyclingKind::stride:
      return std::min<std::size_t>(recycling.count, path_steps);
    case RecyclingKind::all:
      return transition.recycled.size();
  }
  return 0;
}

TEST(Kept, WeightsSumToOneAndStatesCarryTheirOwnDensity) {
  const Tuning tuning = testing::diagonal_tuning(dimension, 0.35);
  const Walled target = walled_target();
  for (const KernelKind kind : every_kernel) {
    // What `all` keeps of the same trajectories: every other recycling keeps some of it.
    std::vector<std::map<Numbers, double>> all;
    auto reference = kernel_at_start(target, kernel_settings(kind, {RecyclingKind::all}));
    for (std::uint64_t i = 0; i < transitions; ++i) {
      all.push_back(weight_by_position(reference->transition(tuning, address(i))));
    }
    for (const Recycling& recycling : every_recycling(kind)) {
      SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
      auto kernel = kernel_at_start(target, kernel_settings(kind, recycling));
      for (std::uint64_t i = 0; i < transitions; ++i) {
        const Numbers before = copy(kernel->state().position);
        const Transition& transition = kernel->transition(tuning, address(i));
        const auto steps =
            static_cast<std::uint64_t>(std::lround(transition.path_length / tuning.step_size));
        ASSERT_EQ(transition.recycled.size(), expected_slots(kind, recycling, transition, steps));
        double sum = 0;
        Numbers gradient(dimension);
        for (const WeightedState& kept : transition.recycled) {
          ASSERT_GT(kept.weight, 0);
          sum += kept.weight;
          if (keeps_no_copies(kind, recycling)) {
            const double slots = kept.weight * static_cast<double>(recycling.count);
            ASSERT_NEAR(slots, std::round(slots), 1e-9);
          } else if (recycling.kind != RecyclingKind::all) {
            ASSERT_EQ(kept.weight, 1.0 / static_cast<double>(transition.recycled.size()));
          }
          // Exactly the numbers that the model computes there.
          ASSERT_EQ(kept.state.log_density, target(kept.state.position, gradient));
          ASSERT_EQ(copy(kept.state.gradient), gradient);
        }
        ASSERT_NEAR(sum, 1, 1e-13);
        for (const auto& [position, weight] : weight_by_position(transition)) {
          // The start of a path with no rejection has weight 0, and may be the next state or a copy
          // of one that a coin rejected only if its weight is not.
          ASSERT_TRUE(all[i].contains(position)) << "a state that is not of the trajectory";
        }
        if (recycling.kind == RecyclingKind::none) {
          ASSERT_EQ(copy(transition.recycled[0].state.position), copy(transition.state.position));
        }
        ASSERT_EQ(copy(kernel->state().position), copy(transition.state.position));
        ASSERT_EQ(transition.state.log_density, target(transition.state.position, gradient));
        ASSERT_EQ(copy(transition.state.gradient), gradient);
      }
    }
  }
}

TEST(Kept, SliceWeightsAreEqual) {
  auto kernel = kernel_at_start(walled_target(),
                                kernel_settings(KernelKind::nuts_slice, {RecyclingKind::all}));
  for (std::uint64_t i = 0; i < transitions; ++i) {
    const Transition& transition =
        kernel->transition(testing::diagonal_tuning(dimension, 0.35), address(i));
    for (const WeightedState& kept : transition.recycled) {
      EXPECT_DOUBLE_EQ(kept.weight, 1.0 / static_cast<double>(transition.recycled.size()));
    }
  }
}

// K slots all the same: systematic sampling gives a state of weight w either floor(K w) or ceil(K
// w) of them; Algorithm 2 of Nishimura & Dunson (2020) gives every one of |A| states floor(K/|A|)
// or one more.
TEST(Kept, MoreSlotsThanStatesAreFilledWithCopies) {
  const Tuning tuning = testing::diagonal_tuning(dimension, 0.35);
  for (const KernelKind kind : every_kernel) {
    for (const auto& [recycling, slots] : {Recycling{RecyclingKind::spread, most_copies},
                                           Recycling{RecyclingKind::spread, most_copies + 36},
                                           Recycling{RecyclingKind::simple, 100}}) {
      if (recycling == RecyclingKind::simple && kind != KernelKind::nuts_slice) continue;
      SCOPED_TRACE(describe(kind));
      KernelSettings with_all = kernel_settings(kind, {RecyclingKind::all});
      KernelSettings with_slots = kernel_settings(kind, {recycling, slots});
      with_all.nuts.max_depth = with_slots.nuts.max_depth = 3;
      with_all.hmc.path_steps = with_slots.hmc.path_steps = 5;
      auto reference = kernel_at_start(walled_target(), with_all);
      auto kernel = kernel_at_start(walled_target(), with_slots);
      for (std::uint64_t i = 0; i < transitions; ++i) {
        const auto all = weight_by_position(reference->transition(tuning, address(i)));
        const Transition& transition = kernel->transition(tuning, address(i));
        ASSERT_LE(all.size(), 8U);
        const auto kept = weight_by_position(transition);
        ASSERT_EQ(transition.recycled.size(),
                  keeps_no_copies(kind, {recycling, slots}) ? kept.size() : slots);
        for (const auto& [position, weight] : all) {
          const auto found = kept.find(position);
          const auto of_slots = static_cast<double>(slots);
          const double copies = of_slots * (found == kept.end() ? 0.0 : found->second);
          ASSERT_LT(std::abs(copies - of_slots * weight), 1 + 1e-9);
        }
      }
    }
  }
}

TEST(Kept, StepwiseRecyclingNeedsAPath) {
  for (const char* text : {"accept-each", "stride:4"}) {
    for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice}) {
      try {
        make_kernel(walled_target(), kernel_settings(kind, parse_recycling(text)));
        ADD_FAILURE() << text << " was accepted";
      } catch (const ConfigError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find(text), std::string::npos) << message;
        EXPECT_NE(message.find("hmc"), std::string::npos) << message;
      }
    }
  }
}

}  // namespace
}  // namespace rehmc::mechanics_chain_test
