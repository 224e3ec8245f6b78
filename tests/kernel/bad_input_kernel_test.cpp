// Bad settings, tunings, points and models: a specific error, or defined behaviour.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "rehmc/core/numerics.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "tests/kernel/mechanics.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::bad_input_kernel_test {
namespace {

using testing::address;
using testing::Bumpy;
using testing::every_kernel;
using testing::kernel_at_start;
using testing::kernel_settings;
using testing::mentions;
using testing::message_of;
using testing::Numbers;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(BadInput, EverySettingOfAKernelIsChecked) {
  const auto with = [](auto part) {
    KernelSettings settings;
    if constexpr (std::is_same_v<decltype(part), NutsSettings>) {
      settings.nuts = part;
    } else {
      settings.hmc = part;
    }
    // Checked by itself, and when a kernel of any kind is created.
    settings.check();
    for (const KernelKind kind : every_kernel) {
      settings.kind = kind;
      make_kernel(Bumpy(2), settings);
    }
  };
  EXPECT_GE(testing::expect_settings_are_checked(NutsSettings{}, with), 8);
  EXPECT_GE(testing::expect_settings_are_checked(HmcSettings{}, with), 20);
}

TEST(BadInput, SettingsThatContradictEachOther) {
  KernelSettings jitter;
  jitter.hmc.jitter_least = 1.2;
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { jitter.check(); }), "jitter_most"));
  KernelSettings range;
  range.hmc.path_steps = 8;
  range.hmc.path_steps_most = 7;
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { range.check(); }), "path_steps_most"));
  // A range without its beginning would be silently ignored.
  KernelSettings half;
  half.hmc.path_steps_most = 7;
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { half.check(); }), "path_steps_most"));
}

TEST(BadInput, CountsOfRecycling) {
  for (const RecyclingKind kind :
       {RecyclingKind::spread, RecyclingKind::simple, RecyclingKind::stride}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{2'000'000}, ~std::size_t{0}}) {
      const auto settings = kernel_settings(KernelKind::hmc, {kind, count});
      const std::string message = message_of<ConfigError>([&] { make_kernel(Bumpy(2), settings); });
      EXPECT_TRUE(mentions(message, "recycle")) << message;
    }
  }
  KernelSettings unknown;
  unknown.kind = static_cast<KernelKind>(99);
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { make_kernel(Bumpy(2), unknown); }), "99"));
  unknown.kind = KernelKind::nuts;
  unknown.recycling.kind = static_cast<RecyclingKind>(99);
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { make_kernel(Bumpy(2), unknown); }), "99"));
}

TEST(BadInput, Tunings) {
  for (const KernelKind kind : every_kernel) {
    auto kernel = kernel_at_start(Bumpy(3), kernel_settings(kind, {}));
    const auto message = [&](const Tuning& tuning) {
      const std::string of_transition =
          message_of<ConfigError>([&] { kernel->transition(tuning, address(0)); });
      Stream stream({}, Purpose::step_size);
      const std::string of_trial =
          message_of<ConfigError>([&] { kernel->one_step_energy_error(tuning, stream); });
      EXPECT_EQ(of_transition, of_trial);
      return of_transition;
    };
    for (const double step : {0.0, -0.1, not_a_number, infinity, -infinity}) {
      EXPECT_TRUE(mentions(message({step, make_unit_metric(3)}), "step_size")) << step;
    }
    EXPECT_TRUE(mentions(message({0.1, nullptr}), "metric"));
    EXPECT_TRUE(mentions(message({0.1, make_unit_metric(4)}), "metric: has 4 coordinates"));
    // The kernel still works.
    EXPECT_NO_THROW(kernel->transition({0.1, make_unit_metric(3)}, address(0)));
  }
}

TEST(BadInput, DensityWithoutDimensions) {
  for (const KernelKind kind : every_kernel) {
    const std::string message =
        message_of<ModelError>([&] { make_kernel(Bumpy(0), kernel_settings(kind, {})); });
    EXPECT_TRUE(mentions(message, "dimension 0")) << message;
    EXPECT_TRUE(mentions(message_of<ModelError>([&] {
                           make_kernel(Bumpy(static_cast<std::size_t>(-1)),
                                       kernel_settings(kind, {}));
                         }),
                         "negative"));
  }
}

TEST(BadInput, PositionsOfWrongLengthOrNotFinite) {
  for (const KernelKind kind : every_kernel) {
    auto kernel = kernel_at_start(Bumpy(3), kernel_settings(kind, {}));
    const Numbers before = testing::copy(kernel->state().position);
    EXPECT_THROW(kernel->set_position(Numbers{}), ModelError);
    EXPECT_THROW(kernel->set_position(Numbers(2)), ModelError);
    EXPECT_THROW(kernel->set_position(Numbers(4)), ModelError);
    EXPECT_TRUE(mentions(message_of<ModelError>([&] {
                           kernel->set_position(Numbers{0, not_a_number, 0});
                         }),
                         "coordinate 2 of 3"));
    EXPECT_THROW(kernel->set_position(Numbers{0, infinity, 0}), ModelError);
    // The chain stays where it was, and continues.
    EXPECT_EQ(testing::copy(kernel->state().position), before);
    EXPECT_NO_THROW(kernel->transition({0.1, make_unit_metric(3)}, address(0)));
  }
}

TEST(BadInput, TransitionWithoutAPosition) {
  for (const KernelKind kind : every_kernel) {
    auto kernel = make_kernel(Bumpy(3), kernel_settings(kind, {}));
    const Tuning tuning{0.1, make_unit_metric(3)};
    const std::string message =
        message_of<ConfigError>([&] { kernel->transition(tuning, address(0)); });
    EXPECT_TRUE(mentions(message, "set_position")) << message;
    Stream stream({}, Purpose::step_size);
    EXPECT_THROW(kernel->one_step_energy_error(tuning, stream), ConfigError);
    kernel->set_position(Numbers(3));
    EXPECT_NO_THROW(kernel->transition(tuning, address(0)));
  }
}

TEST(BadInput, ModelsThatFailAtTheFirstPoint) {
  const auto refuse = [](auto function, const std::string& word) {
    for (const KernelKind kind : every_kernel) {
      auto kernel = make_kernel(FunctionDensity(3, function), kernel_settings(kind, {}));
      const std::string message = message_of<ModelError>([&] {
        kernel->set_position(Numbers{1, 2, 3});
      });
      EXPECT_TRUE(mentions(message, word)) << message;
    }
  };
  using In = std::span<const double>;
  using Out = std::span<double>;
  refuse([](In, Out) -> double { throw std::runtime_error("no data loaded"); }, "no data loaded");
  refuse([](In, Out) -> double { throw 7; }, "exception");
  refuse([](In, Out g) { return std::fill(g.begin(), g.end(), 0.0), not_a_number; }, "NaN");
  refuse([](In, Out g) { return std::fill(g.begin(), g.end(), 0.0), infinity; }, "+inf");
  refuse([](In, Out g) { return std::fill(g.begin(), g.end(), 0.0), -infinity; }, "-inf");
  refuse([](In, Out g) { return std::fill(g.begin(), g.end(), not_a_number), 0.0; }, "gradient");
  refuse([](In, Out g) { return g[0] = 1, g[1] = 1, 0.0; }, "did not write the gradient of x[3]");
  refuse([](In, Out g) { return std::fill_n(g.data(), 4, 1.0), 0.0; }, "past the end");
}

// Not an error: the step is a divergence, the chain continues, and the cause is counted.
TEST(BadInput, ModelsThatFailLater) {
  for (const KernelKind kind : every_kernel) {
    for (const bool throws : {true, false}) {
      SCOPED_TRACE(describe(kind));
      // Fails at every other call, wherever it is called.
      int calls = 0;
      const auto moody = [calls, throws](std::span<const double> x,
                                         std::span<double> gradient) mutable {
        if (++calls % 2 == 0) {
          if (throws) throw std::runtime_error("out of sorts");
          std::fill(gradient.begin(), gradient.end(), not_a_number);
          return not_a_number;
        }
        return Bumpy(3)(x, gradient);
      };
      auto kernel = kernel_at_start(FunctionDensity(3, moody), kernel_settings(kind, {}));
      std::uint64_t diverged = 0;
      for (std::uint64_t i = 0; i < 200; ++i) {
        const Transition& transition = kernel->transition({0.1, make_unit_metric(3)}, address(i));
        diverged += transition.ending == Ending::diverged;
        ASSERT_TRUE(std::isfinite(transition.state.log_density));
        ASSERT_TRUE(std::isfinite(transition.acceptance));
        for (const double x : transition.state.position) ASSERT_TRUE(std::isfinite(x));
        for (const double g : transition.state.gradient) ASSERT_TRUE(std::isfinite(g));
        for (const WeightedState& kept : transition.recycled) {
          ASSERT_TRUE(std::isfinite(kept.state.log_density));
        }
      }
      EXPECT_GT(diverged, 100U);
      const Guard& guard = kernel->guard();
      const auto faults = guard.faults(throws ? Fault::exception : Fault::not_a_number);
      EXPECT_GE(faults, diverged);
      EXPECT_LE(faults, diverged * testing::most_divergences(kind));
      EXPECT_EQ(guard.first_message(), throws ? "out of sorts" : "");
    }
  }
}

}  // namespace
}  // namespace rehmc::bad_input_kernel_test
