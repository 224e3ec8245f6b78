// Sharpening without stored draws, on real chains: honest, refused where it cannot be trusted.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/log_exponential.hpp"
#include "rehmc/run/chain.hpp"
#include "rehmc/summary/run_summary.hpp"
#include "tests/sharpen/honest.hpp"
#include "tests/summary/refusals.hpp"

namespace rehmc::running_sharpening_test {
namespace {

using testing::expect_refused;
using testing::Honesty;
using testing::warns_of;

SampleSettings settings_of(std::uint64_t seed, int draws,
                           MetricKind metric = MetricKind::diagonal) {
  SampleSettings settings;
  settings.seed = seed;
  settings.draws = draws;
  settings.warmup.schedule = WarmupSchedule::stan;  // chains run one after the other
  settings.warmup.iterations = 400;
  settings.warmup.metric = metric;
  return settings;
}

/// One chain as a job without stored draws runs it.
ChainResult run_chain(const Density& density, const SampleSettings& settings, std::uint32_t index) {
  const Address address{settings.seed.value(), index, 0};
  Chain chain(density, settings, address, SummedFeatures::gradient_moments);
  while (!chain.warm()) chain.step();
  chain.begin_sampling();
  QuantityReader reader(density, {});
  reader.set_centre(chain.centre());
  std::vector<double> scale = chain.tuning().metric->inverse_diagonal();
  for (double& value : scale) value = std::sqrt(value);
  const auto record = std::make_shared<RunningRecord>(reader.centre(), scale, true, true);
  for (int i = 0; i < settings.draws; ++i) record->add(reader.read(chain.step(), chain.address()));
  ChainResult result{{chain.facts()}, {}};
  result.running = record;
  return result;
}

RunSummary run(const Density& density, const SampleSettings& settings, bool sharpen = true) {
  SampleResult result;
  result.kernel = settings.kernel;
  for (std::size_t i = 0; i < density.dimension(); ++i) {
    result.names.push_back("x." + std::to_string(i + 1));
  }
  for (std::uint32_t c = 0; c < 4; ++c) result.chains.push_back(run_chain(density, settings, c));
  return summarise_run(result, sharpen);
}

constexpr std::size_t replicates = 400;

/// Means and sds of all coordinates over many runs, against the truth. Each of three checks of each
/// of them fails by chance with probability 1e-4 / (6 d).
template <class Model>
void expect_honest(const Model& model, int draws, MetricKind metric) {
  const std::size_t d = model.dimension();
  std::vector<std::array<Honesty, 2>> honesty(d);
  std::size_t fired = 0;
  for (std::size_t r = 0; r < replicates; ++r) {
    const RunSummary summary = run(model, settings_of(100 + r, draws, metric));
    fired += summary.sharpening.check->passed() ? 0 : 1;
    for (std::size_t i = 0; i < d; ++i) {
      const ParameterSummary& row = summary.parameters[i];
      if (!row.sharpened) continue;
      const Estimate& found = row.sharpened->estimate;
      honesty[i][0].add(found.mean - model.mean(i), found.mcse_mean);
      honesty[i][1].add(found.sd - std::sqrt(model.variance(i)), found.mcse_sd);
    }
  }
  // 0.4 expected at most; eight have a chance of 1e-8.
  EXPECT_LT(fired, 8U);
  const double rate = 1e-4 / static_cast<double>(6 * d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(honesty[i][s].complaint(rate), "") << "coordinate " << i << ", summary " << s;
    }
  }
}

/// Two coordinates with the correlation 0.8.
CorrelatedNormal correlated() { return CorrelatedNormal(std::array{1.0, 0.8, 0.8, 1.0}); }

TEST(RunningSharpening, IsHonestOnACorrelatedNormal) {
  expect_honest(correlated(), 512, MetricKind::diagonal);
}

TEST(RunningSharpening, IsHonestWithADenseMetric) {
  expect_honest(correlated(), 512, MetricKind::dense);
}

TEST(RunningSharpening, IsHonestOnASkewedTarget) {
  expect_honest(LogExponential(2), 512, MetricKind::diagonal);
}

/// Gain of sharpening over recycling for the mean of the first coordinate.
double gain(const RunSummary& summary) {
  const ParameterSummary& row = summary.parameters.front();
  return std::pow(row.recycled->mcse_mean / row.sharpened->estimate.mcse_mean, 2);
}

// A coordinate's own gradient leaves a share 1 - 1 / (variance x precision) of the variance of its
// mean, here 0.64. A dense metric includes the gradient of the other one.
TEST(RunningSharpening, TakesItsDirectionsFromTheMetric) {
  EXPECT_LT(gain(run(correlated(), settings_of(1, 1000))), 3);
  EXPECT_GT(gain(run(correlated(), settings_of(1, 1000, MetricKind::dense))), 20);
}

// 400 short runs of d = 5: at the family-wise rate of 1e-3, 0.4 fire at most; eight have a chance
// of 1e-8.
TEST(RunningSharpening, HealthyShortRunsPassTheSteinCheck) {
  std::size_t fired = 0;
  for (std::size_t r = 0; r < replicates; ++r) {
    const RunSummary summary = run(LogExponential(5), settings_of(500 + r, 200));
    EXPECT_EQ(summary.sharpening.check->features, 10U);
    fired += summary.sharpening.check->passed() ? 0 : 1;
  }
  EXPECT_LT(fired, 8U);
}

TEST(RunningSharpening, IsRefusedForAGradientWrongInOneCoordinate) {
  const LogExponential model(5);
  const auto wrong = [&](std::span<const double> x, std::span<double> gradient) {
    const double log_density = model(x, gradient);
    gradient[3] *= 1.05;
    return log_density;
  };
  const RunSummary summary = run(FunctionDensity(5, wrong), settings_of(1, 10000));
  EXPECT_FALSE(summary.sharpening.check->passed());
  EXPECT_EQ(summary.sharpening.worst_name, "x[4]");
  EXPECT_FALSE(summary.sharpening.spot_check.passed);
  EXPECT_TRUE(warns_of(summary, "gradient"));
  EXPECT_TRUE(warns_of(summary, "stein_check"));
  expect_refused(summary);
}

TEST(RunningSharpening, IsRefusedForADensityWithAJump) {
  const auto truncated = [](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -x[i];
      sum -= x[i] * x[i] / 2;
    }
    return x[0] > 0.5 ? -std::numeric_limits<double>::infinity() : sum;
  };
  const RunSummary summary = run(FunctionDensity(3, truncated), settings_of(1, 1000));
  EXPECT_FALSE(summary.sharpening.check->passed());
  expect_refused(summary);
}

TEST(RunningSharpening, IsRefusedForShortChainsAndOmittedOnRequest) {
  const RunSummary small = run(LogExponential(2), settings_of(1, 100));
  EXPECT_EQ(small.sharpening.check->features, 0U);
  expect_refused(small);
  const RunSummary unasked = run(LogExponential(2), settings_of(1, 1000), false);
  EXPECT_GT(unasked.sharpening.check->features, 0U);
  for (const ParameterSummary& row : unasked.parameters) EXPECT_FALSE(row.sharpened.has_value());
}

}  // namespace
}  // namespace rehmc::running_sharpening_test
