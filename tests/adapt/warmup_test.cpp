// Warmup: finds scales and step sizes, uses all states whatever is kept, and is consumed.
#include "rehmc/adapt/warmup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/diagonal_normal.hpp"
#include "models/standard_normal.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/convergence.hpp"
#include "tests/dynamics/bumpy.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::warmup_test {
namespace {

using Numbers = std::vector<double>;
using testing::mentions;
using testing::message_of;

KernelSettings kernel_of(KernelKind kind, const char* recycling = "spread:8") {
  KernelSettings settings;
  settings.kind = kind;
  settings.recycling = parse_recycling(recycling);
  return settings;
}

std::unique_ptr<Kernel> started(Density density, const KernelSettings& settings = {}) {
  const std::size_t d = density.dimension();
  auto kernel = make_kernel(std::move(density), settings);
  kernel->set_position(Numbers(d, 0.5));
  return kernel;
}

FrozenKernel warm_up(Warmup warmup) {
  while (!warmup.done()) warmup.step();
  return std::move(warmup).finish();
}

/// Draws of a frozen kernel, coordinate by coordinate.
struct Sampled {
  std::vector<Numbers> coordinates;
  double mean_acceptance = 0;
};

Sampled sample_from(FrozenKernel& kernel, Address address, int first, int count) {
  Sampled sampled{std::vector<Numbers>(kernel.state().position.size())};
  for (int i = 0; i < count; ++i) {
    address.iteration = static_cast<std::uint64_t>(first + i);
    const Transition& transition = kernel.transition(address);
    for (std::size_t k = 0; k < sampled.coordinates.size(); ++k) {
      sampled.coordinates[k].push_back(transition.state.position[k]);
    }
    sampled.mean_acceptance += transition.acceptance / count;
  }
  return sampled;
}

/// Standard error of the mean of a series, allowing for its autocorrelation.
double standard_error(const Numbers& series) {
  const Series one{series.data(), series.size(), 1};
  return mcse_mean(std::span(&one, 1));
}

// Dual averaging makes the mean acceptance of its own iterations the target, not that of the
// averaged step size: acceptance is not linear in the logarithm of the step. The deviations are up
// to 0.031 here, at a Monte Carlo error of 0.01.
TEST(Warmup, BringsTheAcceptanceNearTheTarget) {
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice, KernelKind::hmc}) {
    double last_step = 10;
    for (const double target : {0.6, 0.8, 0.95}) {
      WarmupSettings settings{.schedule = WarmupSchedule::stan};
      settings.adapt_step_size.target_acceptance = target;
      settings.metric = MetricKind::unit;  // no windows: one dual averaging throughout
      settings.iterations = 2000;
      const Address address{.seed = 21};
      FrozenKernel kernel =
          warm_up(Warmup(started(StandardNormal(20), kernel_of(kind)), settings, address));
      const double found = sample_from(kernel, address, 2000, 2000).mean_acceptance;
      EXPECT_NEAR(found, target, 0.05) << describe(kind);
      EXPECT_LT(kernel.tuning().step_size, last_step);
      last_step = kernel.tuning().step_size;
    }
  }
}

// Scales from 0.001 to 1000. The estimate of a variance comes from the last window, 500 draws; what
// Monte Carlo error such an estimate has is measured on 500 draws after warmup. False alarms below
// 1e-4 in all, where the limit of 6 standard errors allows for the t-like tails of a measured
// error.
TEST(Warmup, FindsTheScalesOfABadlyScaledNormal) {
  const Numbers scales{1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 5};
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice, KernelKind::hmc}) {
    for (const MetricSource source : {MetricSource::recycled, MetricSource::draws}) {
      SCOPED_TRACE(std::string(describe(kind)) +
                   (source == MetricSource::draws ? ", draws" : ", recycled"));
      WarmupSettings settings{.schedule = WarmupSchedule::stan};
      settings.metric_from = source;
      const Address address{.seed = 22};
      FrozenKernel kernel =
          warm_up(Warmup(started(DiagonalNormal(scales), kernel_of(kind)), settings, address));
      const Numbers estimated = kernel.tuning().metric->inverse_diagonal();
      EXPECT_EQ(kernel.tuning().metric->kind(), MetricKind::diagonal);
      const Sampled sampled = sample_from(kernel, address, 1000, 500);
      for (std::size_t k = 0; k < scales.size(); ++k) {
        const double variance = scales[k] * scales[k];
        Numbers squares;
        for (const double x : sampled.coordinates[k]) squares.push_back(x * x / variance);
        // The shrinkage towards 1e-3 is exactly known.
        const double expected = (500 * variance + 5e-3) / 505;
        EXPECT_NEAR(estimated[k] / expected, 1, 6 * standard_error(squares))
            << "scale " << scales[k];
      }
    }
  }
}

TEST(Warmup, FindsACovariance) {
  const Numbers covariance{4, 1.9, 0, 1.9, 1, 0.2, 0, 0.2, 9};
  const CorrelatedNormal target(covariance);
  WarmupSettings settings{.schedule = WarmupSchedule::stan};
  settings.metric = MetricKind::dense;
  const Address address{.seed = 23};
  FrozenKernel kernel = warm_up(Warmup(started(target), settings, address));
  ASSERT_EQ(kernel.tuning().metric->kind(), MetricKind::dense);
  const Numbers diagonal = kernel.tuning().metric->inverse_diagonal();
  // With the covariance as its metric, a normal looks spherical to the kernel: the step size is
  // near that of the standard normal in three dimensions; the diagonal metric needs a far shorter
  // one.
  WarmupSettings with_diagonal{.schedule = WarmupSchedule::stan};
  FrozenKernel worse = warm_up(Warmup(started(target), with_diagonal, address));
  EXPECT_GT(kernel.tuning().step_size, 2 * worse.tuning().step_size);
  const Sampled sampled = sample_from(kernel, address, 1000, 500);
  for (std::size_t k = 0; k < 3; ++k) {
    const double variance = covariance[4 * k];
    Numbers squares;
    for (const double x : sampled.coordinates[k]) squares.push_back(x * x / variance);
    EXPECT_NEAR(diagonal[k] / variance, 1, 6 * standard_error(squares) + 0.01);
  }
}

/// The squared errors of the logarithms of all variances, after one window of `draws` from an exact
/// start, averaged: from recycled states and from draws alone.
struct LogErrors {
  double recycled = 0;
  double plain = 0;
};

LogErrors log_errors_of_a_window(std::uint64_t replicate, int draws) {
  constexpr std::size_t dimension = 10;
  const Address where{.seed = 24, .chain = static_cast<std::uint32_t>(replicate)};
  Stream stream(where, Purpose::test);
  Numbers start(dimension);
  stream.fill_normal(start);
  auto kernel = make_kernel(StandardNormal(dimension), kernel_of(KernelKind::nuts, "none"));
  kernel->set_position(start);
  MetricEstimate recycled(MetricKind::diagonal, MetricSource::recycled, start);
  MetricEstimate plain(MetricKind::diagonal, MetricSource::draws, start);
  kernel->use_features(recycled.features());
  const Tuning tuning{0.5, make_unit_metric(dimension)};
  for (int i = 0; i < draws; ++i) {
    const Transition& transition =
        kernel->transition(tuning, {where.seed, where.chain, static_cast<std::uint64_t>(i)});
    recycled.add(transition);
    plain.add(transition);
  }
  const auto mean_square_log = [&](const MetricEstimate& estimate) {
    double sum = 0;
    for (const double variance : estimate.metric()->inverse_diagonal()) {
      sum += std::pow(std::log(variance), 2);
    }
    return sum / dimension;
  };
  return {mean_square_log(recycled), mean_square_log(plain)};
}

// Nishimura & Dunson (2020) on covariance tuning: all states estimate the scales better than the
// draws alone, above all in a short window. One-sided, paired by replicate; a metric no better than
// the plain one passes with probability 1e-6.
TEST(Warmup, RecycledStatesGiveABetterMetric) {
  for (const int draws : {10, 25}) {
    constexpr int replicates = 200;
    Numbers gains;
    double plain = 0;
    double recycled = 0;
    for (std::uint64_t r = 0; r < replicates; ++r) {
      const LogErrors errors = log_errors_of_a_window(r, draws);
      gains.push_back(errors.plain - errors.recycled);
      plain += errors.plain / replicates;
      recycled += errors.recycled / replicates;
    }
    double mean = 0;
    for (const double gain : gains) mean += gain / replicates;
    double variance = 0;
    for (const double gain : gains) variance += (gain - mean) * (gain - mean) / (replicates - 1);
    EXPECT_GT(mean / std::sqrt(variance / replicates), -normal_quantile(1e-6));
    RecordProperty("plain_" + std::to_string(draws), std::to_string(plain));
    RecordProperty("recycled_" + std::to_string(draws), std::to_string(recycled));
  }
}

/// The result of each iteration of a warmup, as numbers that must be equal to the bit.
std::vector<Numbers> trace(const WarmupSettings& settings, const KernelSettings& kernel) {
  Warmup warmup(started(testing::Bumpy(6), kernel), settings, {.seed = 25});
  std::vector<Numbers> lines;
  while (!warmup.done()) {
    const Transition& transition = warmup.step();
    Numbers line(transition.state.position.begin(), transition.state.position.end());
    line.push_back(transition.step_size);
    line.push_back(transition.acceptance);
    line.push_back(warmup.tuning().step_size);
    const Numbers metric = warmup.tuning().metric->inverse_diagonal();
    line.insert(line.end(), metric.begin(), metric.end());
    lines.push_back(line);
  }
  const Tuning tuning = std::move(warmup).finish().tuning();
  Numbers last = tuning.metric->inverse_diagonal();
  last.push_back(tuning.step_size);
  lines.push_back(last);
  return lines;
}

TEST(Warmup, IsTheSameWhateverIsKept) {
  WarmupSettings settings{.schedule = WarmupSchedule::stan};
  settings.iterations = 300;
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice, KernelKind::hmc}) {
    for (const MetricKind metric : {MetricKind::diagonal, MetricKind::dense}) {
      settings.metric = metric;
      const auto expected = trace(settings, kernel_of(kind, "none"));
      for (const char* recycling : {"all", "spread:8", "simple:3"}) {
        EXPECT_EQ(trace(settings, kernel_of(kind, recycling)), expected) << describe(kind);
      }
      if (kind != KernelKind::hmc) continue;
      for (const char* recycling : {"accept-each", "stride:3"}) {
        EXPECT_EQ(trace(settings, kernel_of(kind, recycling)), expected);
      }
    }
  }
}

// The metric changes in the iterations after a window, with a new step size, and in no others. Its
// source matters only from then on.
TEST(Warmup, TakesANewMetricAfterEveryWindow) {
  WarmupSettings settings{.schedule = WarmupSchedule::stan};
  settings.iterations = 300;  // windows [75, 100), [100, 150), [150, 250)
  for (const MetricSource source : {MetricSource::recycled, MetricSource::draws}) {
    settings.metric_from = source;
    Warmup warmup(started(testing::Bumpy(6)), settings, {.seed = 26});
    std::vector<int> changes;
    const Metric* metric = warmup.tuning().metric.get();
    while (!warmup.done()) {
      const int iteration = warmup.iteration();
      warmup.step();
      if (warmup.tuning().metric.get() != metric) changes.push_back(iteration);
      metric = warmup.tuning().metric.get();
    }
    EXPECT_EQ(changes, (std::vector{100, 150, 250}));
    EXPECT_EQ(std::move(warmup).finish().tuning().metric.get(), metric);
  }
  settings.metric_from = MetricSource::recycled;
  const auto recycled = trace(settings, {});
  settings.metric_from = MetricSource::draws;
  const auto plain = trace(settings, {});
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(recycled[i], plain[i]);
  EXPECT_NE(recycled[100], plain[100]);
}

TEST(Warmup, TakesTheMetricOfAWindowThatEndsWithIt) {
  WarmupSettings settings{.schedule = WarmupSchedule::stan};
  settings.iterations = 100;
  settings.windows = {.first_phase = 50, .first_window = 50, .last_phase = 0};
  Warmup warmup(started(testing::Bumpy(6)), settings, {.seed = 27});
  while (!warmup.done()) warmup.step();
  EXPECT_EQ(warmup.tuning().metric->kind(), MetricKind::unit);
  const FrozenKernel kernel = std::move(warmup).finish();
  EXPECT_EQ(kernel.tuning().metric->kind(), MetricKind::diagonal);
  EXPECT_GT(kernel.tuning().step_size, 0.05);
  EXPECT_LT(kernel.tuning().step_size, 4);
}

TEST(Warmup, KeepsTheMetricItIsTold) {
  const auto given = make_diagonal_metric(Numbers(6, 0.7));
  WarmupSettings settings{.schedule = WarmupSchedule::stan};
  settings.initial_metric = given;
  settings.metric = MetricKind::unit;
  settings.iterations = 200;
  FrozenKernel kept = warm_up(Warmup(started(testing::Bumpy(6)), settings, {.seed = 28}));
  EXPECT_EQ(kept.tuning().metric, given);
  EXPECT_NE(kept.tuning().step_size, settings.step_size);

  settings.iterations = 0;
  settings.step_size = 0.321;
  settings.metric = MetricKind::diagonal;
  FrozenKernel none = warm_up(Warmup(started(testing::Bumpy(6)), settings, {.seed = 28}));
  EXPECT_EQ(none.tuning().metric, given);
  EXPECT_EQ(none.tuning().step_size, 0.321);

  settings.iterations = 1;
  EXPECT_NO_THROW(warm_up(Warmup(started(testing::Bumpy(6)), settings, {.seed = 28})));
}

// Moments that overflow leave the metric unchanged and do not stop warmup.
TEST(Warmup, SurvivesAWindowWithoutMoments) {
  const FunctionDensity huge(1, [](std::span<const double> x, std::span<double> gradient) {
    const double scaled = x[0] / 1e155;
    gradient[0] = -scaled / 1e155;
    return -0.5 * scaled * scaled;
  });
  for (const MetricKind kind : {MetricKind::diagonal, MetricKind::dense}) {
    auto kernel = make_kernel(huge, {});
    kernel->set_position(Numbers{0.5e155});
    WarmupSettings settings{.schedule = WarmupSchedule::stan};
    settings.iterations = 150;
    settings.metric = kind;
    settings.initial_metric = make_diagonal_metric(Numbers{1e307});
    FrozenKernel frozen = warm_up(Warmup(std::move(kernel), settings, {.seed = 29}));
    EXPECT_EQ(frozen.tuning().metric, settings.initial_metric);
  }
}

TEST(Warmup, IsConsumed) {
  WarmupSettings settings{.schedule = WarmupSchedule::stan};
  settings.iterations = 30;
  Warmup warmup(started(testing::Bumpy(3)), settings, {.seed = 30});
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { std::move(warmup).finish(); }), "not all"));
  while (!warmup.done()) warmup.step();
  EXPECT_EQ(warmup.iteration(), 30);
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { warmup.step(); }), "finish()"));
  FrozenKernel kernel = std::move(warmup).finish();
  EXPECT_THROW(warmup.step(), ConfigError);  // NOLINT(bugprone-use-after-move): what is tested
  static_assert(!std::is_copy_constructible_v<FrozenKernel>);

  const Tuning frozen = kernel.tuning();
  for (std::uint64_t i = 30; i < 130; ++i) {
    EXPECT_EQ(kernel.transition({.seed = 30, .iteration = i}).step_size, frozen.step_size);
  }
  EXPECT_EQ(kernel.tuning().step_size, frozen.step_size);
  EXPECT_EQ(kernel.tuning().metric, frozen.metric);
}

TEST(Warmup, SettingsAreChecked) {
  const auto make = [](const WarmupSettings& settings) {
    settings.check();
    Warmup(started(testing::Bumpy(2)), settings, {});
  };
  EXPECT_GE(
      testing::expect_settings_are_checked(WarmupSettings{.schedule = WarmupSchedule::stan}, make),
      6);
  const auto with_windows = [&](const WindowSettings& windows) {
    WarmupSettings settings{.schedule = WarmupSchedule::stan};
    settings.windows = windows;
    make(settings);
  };
  EXPECT_GE(testing::expect_settings_are_checked(WindowSettings{}, with_windows), 9);
  const auto with_step_size = [&](const StepSizeSettings& step_size) {
    WarmupSettings settings{.schedule = WarmupSchedule::stan};
    settings.adapt_step_size = step_size;
    make(settings);
  };
  EXPECT_GE(testing::expect_settings_are_checked(StepSizeSettings{}, with_step_size), 20);

  WarmupSettings low_rank{.schedule = WarmupSchedule::stan};
  low_rank.metric = MetricKind::low_rank;
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { make(low_rank); }), "low-rank"));
  WarmupSettings wrong_length{.schedule = WarmupSchedule::stan};
  wrong_length.initial_metric = make_unit_metric(3);
  EXPECT_TRUE(mentions(message_of<ConfigError>([&] { make(wrong_length); }), "3 coordinates"));
}

// Settings that only Stan's schedule reads are refused where they would have no effect.
TEST(Warmup, PooledRefusesWhatItDoesNotUse) {
  const auto message = [](const WarmupSettings& settings) {
    return message_of<ConfigError>([&] { settings.check(); });
  };
  EXPECT_NO_THROW(WarmupSettings{.adapt_step_size = {.target_acceptance = 0.9}}.check());
  EXPECT_TRUE(mentions(message({.metric_from = MetricSource::draws}), "metric-from"));
  EXPECT_TRUE(mentions(message({.adapt_step_size = {.offset = 3}}), "offset"));
  EXPECT_TRUE(mentions(message({.windows = {.last_phase = 3}}), "last_phase"));
}

}  // namespace
}  // namespace rehmc::warmup_test
