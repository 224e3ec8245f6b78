// How trajectories end: every ending can be reached, and a divergence reports where and why.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "rehmc/kernel/kernel.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::mechanics_endings_test {
namespace {

using testing::address;
using testing::copy;
using testing::every_kernel;
using testing::kernel_at_start;
using testing::kernel_settings;
using testing::Numbers;
using testing::PlainPoint;
using testing::Walled;

constexpr std::size_t dimension = 5;

TEST(Ending, DepthLimitIsReachedByShortSteps) {
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice}) {
    for (const int depth : {1, 2, 3}) {
      KernelSettings settings = kernel_settings(kind, {});
      settings.nuts.max_depth = depth;
      auto kernel = kernel_at_start(testing::Bumpy(dimension), settings);
      for (std::uint64_t i = 0; i < 20; ++i) {
        const Transition& transition =
            kernel->transition(testing::diagonal_tuning(dimension, 1e-4), address(i));
        EXPECT_EQ(transition.ending, Ending::depth_limit);
        EXPECT_EQ(transition.depth, depth);
        EXPECT_EQ(transition.leapfrogs, (1U << depth) - 1);
      }
    }
  }
}

TEST(Ending, PathsComplete) {
  auto kernel = kernel_at_start(testing::Bumpy(dimension), kernel_settings(KernelKind::hmc, {}));
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Transition& transition =
        kernel->transition(testing::diagonal_tuning(dimension, 0.3), address(i));
    EXPECT_EQ(transition.ending, Ending::completed);
    EXPECT_EQ(transition.depth, 0);
  }
}

/// The wall of the target with the fault none is a cliff of a million.
constexpr double wall = 1.0;

// One textbook step from the recorded start, with the recorded momentum, leads to the recorded end,
// whichever direction the trajectory grew in.
TEST(Divergence, ReportsWhereItHappenedAndWhy) {
  const Numbers inverse_mass = testing::variances(dimension);
  for (const KernelKind kind : every_kernel) {
    for (const Fault fault : {Fault::none, Fault::not_a_number, Fault::positive_infinity,
                              Fault::negative_infinity, Fault::bad_gradient, Fault::exception}) {
      SCOPED_TRACE(std::string(describe(kind)) + ", " + std::string(describe(fault)));
      const Walled target(dimension, wall, fault);
      for (const char* recycling : {"all", "spread:4", "simple:4"}) {
        auto kernel = kernel_at_start(target, kernel_settings(kind, parse_recycling(recycling)));
        std::uint64_t diverged = 0;
        for (std::uint64_t i = 0; i < 150; ++i) {
          const Transition& transition =
              kernel->transition(testing::diagonal_tuning(dimension, 0.25), address(i));
          ASSERT_LE(transition.state.position[0], wall);
          for (const WeightedState& kept : transition.recycled) {
            ASSERT_LE(kept.state.position[0], wall);
          }
          ASSERT_TRUE(std::isfinite(transition.energy));
          if (transition.ending != Ending::diverged) continue;
          ++diverged;
          const Divergence& divergence = transition.divergence;
          ASSERT_EQ(divergence.fault, fault);
          ASSERT_LE(divergence.start[0], wall);
          ASSERT_GT(divergence.end[0], wall);
          PlainPoint start{copy(divergence.start), copy(divergence.momentum), 0,
                           Numbers(dimension)};
          start.log_density = target(start.x, start.gradient);
          Numbers end(dimension);
          for (std::size_t k = 0; k < dimension; ++k) {
            const double p_half = start.p[k] + 0.125 * start.gradient[k];
            end[k] = start.x[k] + 0.25 * inverse_mass[k] * p_half;
            ASSERT_NEAR(divergence.end[k], end[k], 1e-13) << "transition " << i;
          }
        }
        ASSERT_GT(diverged, 5U);
        if (fault != Fault::none) {
          EXPECT_GE(kernel->guard().faults(fault), diverged);
          EXPECT_LE(kernel->guard().faults(fault), diverged * testing::most_divergences(kind));
        }
        if (fault == Fault::exception) {
          EXPECT_EQ(kernel->guard().first_message(), "beyond the wall");
        }
      }
    }
  }
}

// The limit of the energy error is the one that was set: with a limit above the cliff nothing
// diverges.
TEST(Divergence, TakesTheEnergyErrorThatWasSet) {
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    for (const double limit : {10.0, 999.0, 2e6}) {
      KernelSettings settings = kernel_settings(kind, {});
      settings.nuts.max_energy_error = settings.hmc.max_energy_error = limit;
      auto kernel = kernel_at_start(Walled(dimension, wall, Fault::none), settings);
      int diverged = 0;
      for (std::uint64_t i = 0; i < 100; ++i) {
        const Transition& transition =
            kernel->transition(testing::diagonal_tuning(dimension, 0.25), address(i));
        diverged += transition.ending == Ending::diverged;
        EXPECT_LE(transition.energy_error, limit);
      }
      if (limit > 1e6) {
        EXPECT_EQ(diverged, 0);
      } else {
        EXPECT_GT(diverged, 5);
      }
    }
  }
}

// A step so long that positions overflow is a divergence as well, not a NaN that spreads.
TEST(Divergence, OverflowIsOne) {
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    auto kernel = kernel_at_start(testing::Bumpy(dimension), kernel_settings(kind, {}));
    const Numbers before = copy(kernel->state().position);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Transition& transition =
          kernel->transition(testing::diagonal_tuning(dimension, 1e200), address(i));
      EXPECT_EQ(transition.ending, Ending::diverged);
      EXPECT_EQ(copy(transition.state.position), before);
      EXPECT_EQ(transition.acceptance, 0);
      EXPECT_EQ(transition.energy_error, 0);
    }
  }
}

// In a valley of weights near the smallest doubles recycling still follows the weights: the start
// outweighs the whole plateau beyond x = 1, whatever is kept of it on the way.
TEST(Kept, WeightsThatNearlyVanishDoNotCount) {
  for (const double drop : {650.0, 705.0, 708.0, 712.0, 720.0, 744.0, 760.0}) {
    const auto plateau = [drop](std::span<const double> x, std::span<double> gradient) {
      gradient[0] = 0;
      gradient[1] = -x[1];
      return (x[0] > 1 ? -drop : 0.0) - 0.5 * x[1] * x[1];
    };
    for (const KernelKind kind : every_kernel) {
      for (const char* recycling : {"all", "spread:2", "simple:2"}) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + recycling + ", " + std::to_string(drop));
        KernelSettings settings = kernel_settings(kind, parse_recycling(recycling));
        settings.nuts.max_depth = 6;
        settings.hmc.path_steps = 40;
        auto kernel = make_kernel(FunctionDensity(2, plateau), settings);
        for (std::uint64_t i = 0; i < 60; ++i) {
          kernel->set_position(Numbers{0.9, 0.5});
          const Transition& transition =
              kernel->transition({0.05, make_unit_metric(2)}, address(i));
          double beyond = 0;
          for (const WeightedState& kept : transition.recycled) {
            if (kept.state.position[0] > 1) beyond += kept.weight;
          }
          ASSERT_LT(beyond, 1e-200) << "transition " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rehmc::mechanics_endings_test
