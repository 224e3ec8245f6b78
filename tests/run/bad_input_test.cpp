// Bad settings, starts and models given to sample(): a specific error, or defined behaviour.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "rehmc/run/sample.hpp"
#include "tests/dynamics/bumpy.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::bad_input_test {
namespace {

using testing::Bumpy;
using testing::mentions;
using testing::message_of;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

SampleSettings tiny_run() {
  SampleSettings settings;
  settings.chains = 2;
  settings.threads = 1;
  settings.draws = 5;
  settings.warmup.iterations = 20;
  settings.seed = 41;
  return settings;
}

template <class Part, class Place>
int expect_part_is_checked(const Part& good, Place&& place) {
  return testing::expect_settings_are_checked(good, [&](const Part& part) {
    SampleSettings settings = tiny_run();
    place(settings, part);
    settings.check();
    sample(Bumpy(2), settings);
  });
}

// Every number of every settings struct, given to sample().
TEST(BadInput, EverySettingOfARunIsChecked) {
  EXPECT_GE(expect_part_is_checked(tiny_run(), [](auto& all, const auto& part) { all = part; }), 7);
  EXPECT_GE(expect_part_is_checked(InitialPointSettings{},
                                   [](auto& all, const auto& part) { all.initial = part; }),
            8);
  EXPECT_GE(expect_part_is_checked(NutsSettings{},
                                   [](auto& all, const auto& part) { all.kernel.nuts = part; }),
            8);
  EXPECT_GE(expect_part_is_checked(HmcSettings{},
                                   [](auto& all, const auto& part) { all.kernel.hmc = part; }),
            20);
  EXPECT_GE(expect_part_is_checked(tiny_run().warmup,
                                   [](auto& all, const auto& part) { all.warmup = part; }),
            6);
  // Settings that Stan's schedule alone reads.
  const auto windows = [](auto& all, const auto& part) {
    all.warmup.schedule = WarmupSchedule::stan;
    all.warmup.windows = part;
  };
  EXPECT_GE(expect_part_is_checked(WindowSettings{}, windows), 9);
  const auto step_size = [](auto& all, const auto& part) {
    all.warmup.schedule = WarmupSchedule::stan;
    all.warmup.adapt_step_size = part;
  };
  EXPECT_GE(expect_part_is_checked(StepSizeSettings{}, step_size), 20);
}

TEST(BadInput, Starts) {
  const auto message = [](std::vector<std::vector<double>> start) {
    SampleSettings settings = tiny_run();
    settings.start = std::move(start);
    return message_of<ConfigError>([&] { sample(Bumpy(2), settings); });
  };
  EXPECT_TRUE(mentions(message({{1, 2}, {3, 4}, {5, 6}}), "3 positions for 2 chains"));
  EXPECT_TRUE(mentions(message({{1, 2, 3}}), "found 3 coordinates, but the model has 2"));
  EXPECT_TRUE(mentions(message({{}}), "found 0 coordinates"));
  EXPECT_TRUE(mentions(message({{1, 2}, {1}}), "found 1 coordinates"));
  EXPECT_TRUE(mentions(message({{1, not_a_number}}), "x[2] (coordinate 2 of 2) is nan"));
  EXPECT_TRUE(mentions(message({{1, std::numeric_limits<double>::infinity()}}), "is inf"));
}

TEST(BadInput, MetricsOfTheWrongKindOrLength) {
  SampleSettings low_rank = tiny_run();
  low_rank.warmup.schedule = WarmupSchedule::stan;
  low_rank.warmup.metric = MetricKind::low_rank;
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { sample(Bumpy(2), low_rank); }), "metric"));
  for (const int iterations : {0, 20}) {
    SampleSettings settings = tiny_run();
    settings.warmup.iterations = iterations;
    settings.warmup.initial_metric = make_unit_metric(5);
    const std::string message = message_of<ConfigError>([&] { sample(Bumpy(2), settings); });
    EXPECT_TRUE(mentions(message, "metric: has 5 coordinates, the model has 2")) << message;
  }
}

TEST(BadInput, Models) {
  const auto message = [](const Density& density) {
    return message_of<ModelError>([&] { sample(density, tiny_run()); });
  };
  using In = std::span<const double>;
  using Out = std::span<double>;
  EXPECT_TRUE(mentions(message(Bumpy(0)), "dimension 0"));
  EXPECT_TRUE(mentions(message(FunctionDensity(2, [](In, Out g) { return g[0] = 1, 0.0; })),
                       "did not write the gradient of x[2]"));
  EXPECT_TRUE(mentions(
      message(FunctionDensity(2, [](In, Out g) { return std::fill_n(g.data(), 3, 1.0), 0.0; })),
      "past the end"));
  const std::string thrown = message(
      FunctionDensity(2, [](In, Out) -> double { throw std::runtime_error("where is my data?"); }));
  EXPECT_TRUE(mentions(thrown, "where is my data?") && mentions(thrown, "100 times")) << thrown;
  EXPECT_TRUE(mentions(message(FunctionDensity(2,
                                               [](In, Out g) {
                                                 g[0] = g[1] = 0;
                                                 return not_a_number;
                                               })),
                       "NaN"));
  EXPECT_TRUE(mentions(message(FunctionDensity(2, [](In, Out g) { return g[0] = g[1] = 0, 1.0; })),
                       "proper"));
}

// NaN at half of all points, irregularly: steps diverge, the chain continues and reports it.
TEST(BadInput, NaNHalfOfTheTime) {
  const auto moody = [](std::span<const double> x, std::span<double> gradient) {
    const double value = Bumpy(2)(x, gradient);
    return std::sin(1e6 * (x[0] + x[1])) > 0 ? value : not_a_number;
  };
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice, KernelKind::hmc}) {
    SampleSettings settings = tiny_run();
    settings.kernel.kind = kind;
    settings.draws = 100;
    settings.warmup.iterations = 100;
    const SampleResult result = sample(FunctionDensity(2, moody), settings);
    for (const ChainResult& chain : result.chains) {
      EXPECT_GT(chain.record.divergences.size(), 10U);
      EXPECT_GE(chain.faults[static_cast<std::size_t>(Fault::not_a_number)],
                chain.record.divergences.size());
      for (const double x : chain.record.draws) EXPECT_TRUE(std::isfinite(x));
      for (const double x : chain.record.kept) EXPECT_TRUE(std::isfinite(x));
      for (const double x : chain.record.mean_square) EXPECT_TRUE(std::isfinite(x));
      for (const StoredDivergence& stored : chain.record.divergences) {
        EXPECT_EQ(stored.fault, Fault::not_a_number);
      }
    }
  }
}

}  // namespace
}  // namespace rehmc::bad_input_test
