// Pooled warmup: the same draws on any engine, bounded work for bad densities, honest draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/diagonal_normal.hpp"
#include "models/student_t.hpp"
#include "models/wishart.hpp"
#include "rehmc/adapt/pooled_warmup.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/run/sample.hpp"
#include "tests/run/same_chain.hpp"

namespace rehmc::pooled_test {
namespace {

SampleSettings pooled_run(int chains) {
  SampleSettings settings;
  settings.chains = chains;
  settings.threads = 1;
  settings.draws = 20;
  settings.seed = 7;
  return settings;
}

/// A density whose batched call is the loop over the plain one.
class Looped {
 public:
  std::size_t dimension() const { return normal_.dimension(); }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    return normal_(x, gradient);
  }
  void evaluate_batch(const Batch& batch) {
    for (std::size_t c = 0; c < batch.columns; ++c) {
      batch.log_densities[c] = normal_({batch.positions + c * batch.stride, dimension()},
                                       {batch.gradients + c * batch.stride, dimension()});
    }
  }

 private:
  CorrelatedNormal normal_{wishart_draw({.dimension = 7})};
};

void expect_same_chains(const SampleResult& one, const SampleResult& other, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) {
    SCOPED_TRACE(c);
    testing::expect_same_chain(one.chains[c], other.chains[c]);
  }
}

TEST(PooledRun, GivesTheSameDrawsOnAnyEngine) {
  SampleSettings settings = pooled_run(20);
  const SampleResult one = sample(Looped(), settings);
  for (const int threads : {2, 3, 8}) {
    settings.threads = threads;
    expect_same_chains(one, sample(Looped(), settings), 20);
  }
  settings.engine = EngineKind::batch;
  for (const int batch : {3, 20}) {
    settings.batch = batch;
    expect_same_chains(one, sample(Looped(), settings), 20);
  }
}

TEST(PooledRun, LearnsWithinGroupsOfSixteenChains) {
  const SampleResult many = sample(Looped(), pooled_run(36));
  expect_same_chains(many, sample(Looped(), pooled_run(16)), 16);
  EXPECT_EQ(many.chains[0].tuning.step_size, many.chains[15].tuning.step_size);
  EXPECT_NE(many.chains[15].tuning.step_size, many.chains[16].tuning.step_size);
  // A smaller group knows less: a control.
  EXPECT_NE(many.chains[0].tuning.step_size,
            sample(Looped(), pooled_run(2)).chains[0].tuning.step_size);
}

// What a run needs in warmup must not grow with the number of its chains.
TEST(PooledRun, HoldsOneGroupAtATime) {
  constexpr int chains = 40;
  Progress progress(chains, 1000, 20);
  std::ptrdiff_t most = 0;
  Looped normal;
  const Density density(FunctionDensity(7, [&, normal](auto x, auto gradient) mutable {
    most = std::max(most, std::ranges::count_if(progress.chains, [](const ChainProgress& chain) {
                      return chain.begun && chain.iteration < chain.warmup + 20;
                    }));
    return normal(x, gradient);
  }));
  sample(density, pooled_run(chains), {.progress = &progress});
  EXPECT_EQ(most, 16);
}

TEST(PooledRun, IsIndependentOfWhatIsKept) {
  SampleSettings settings = pooled_run(3);
  settings.kernel.recycling = parse_recycling("none");
  const SampleResult none = sample(Looped(), settings);
  settings.kernel.recycling = parse_recycling("all");
  const SampleResult all = sample(Looped(), settings);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(none.chains[c].record.draws, all.chains[c].record.draws);
  }
}

TEST(PooledRun, StopsInWarmup) {
  std::atomic<int> interrupts = 0;
  std::atomic<int> calls = 0;
  Looped normal;
  const Density density(FunctionDensity(7, [&, normal](auto x, auto gradient) mutable {
    if (++calls == 150) interrupts = 1;
    return normal(x, gradient);
  }));
  const SampleResult result = sample(density, pooled_run(4), {.interrupts = &interrupts});
  EXPECT_TRUE(result.stopped);
  for (const ChainResult& chain : result.chains) EXPECT_EQ(chain.record.size(), 0U);
  EXPECT_LT(calls, 3000);
}

TEST(PooledRun, WorksForPathsAndForASingleChain) {
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice, KernelKind::hmc}) {
    SampleSettings settings = pooled_run(1);
    settings.kernel.kind = kind;
    const SampleResult result = sample(Looped(), settings);
    EXPECT_EQ(result.chains[0].record.size(), 20U);
  }
}

TEST(PooledRun, ReportsItsOwnLengthOfWarmup) {
  SampleSettings settings = pooled_run(2);
  Progress progress(2, 1000, 20);
  const SampleResult result = sample(Looped(), settings, {.progress = &progress});
  EXPECT_LT(result.chains[0].warmup_iterations, 200U);
  EXPECT_EQ(progress.chains[0].warmup, result.chains[0].warmup_iterations);
  EXPECT_EQ(progress.chains[0].iteration, result.chains[0].warmup_iterations + 20);
  EXPECT_GT(result.chains[0].gradients_start, 5U);
  EXPECT_GT(result.chains[0].gradients_warmup, result.chains[0].gradients_start);
}

// Dual averaging ends above the target (0.85 to 0.9 where 0.8 is asked for); the curve does not.
// Means over 40 runs of 4 chains: an sd of 0.02 per run, 0.004 in all. The rest is what the curve
// misses where acceptance depends on the place.
double mean_acceptance(KernelKind kind) {
  double sum = 0;
  constexpr int runs = 40;
  for (int run = 0; run < runs; ++run) {
    SampleSettings settings = pooled_run(4);
    settings.kernel.kind = kind;
    settings.seed = static_cast<std::uint64_t>(100 + run);
    settings.draws = 50;
    for (const ChainResult& chain : sample(StudentT(20, 10), settings).chains) {
      for (const double acceptance : chain.record.acceptance) sum += acceptance / (4 * 50 * runs);
    }
  }
  return sum;
}

TEST(PooledRun, HasTheAcceptanceThatWasAskedFor) {
  EXPECT_NEAR(mean_acceptance(KernelKind::hmc), 0.8, 0.03);
}

// A tree takes the step size with the least cost that is near the one asked for: 0.62 to 0.87 on
// the curve, which may miss by as much as above.
TEST(PooledRun, HasNearlyTheAcceptanceThatWasAskedForWhereTreesAreCheapest) {
  const double acceptance = mean_acceptance(KernelKind::nuts);
  EXPECT_GT(acceptance, 0.59);
  EXPECT_LT(acceptance, 0.9);
}

// Warmup that ends too early leaves chains outside of the bulk. Averages over 300 runs of the first
// 50 draws: their t statistics are beyond 4.5 once in 10^5 times, with 4 of them.
TEST(PooledRun, LeavesChainsInTheBulk) {
  constexpr int runs = 300;
  std::vector<std::vector<double>> averages(4);
  for (int run = 0; run < runs; ++run) {
    SampleSettings settings = pooled_run(4);
    settings.seed = static_cast<std::uint64_t>(500 + run);
    settings.draws = 50;
    const SampleResult result = sample(StudentT(2, 8), settings);
    std::vector<double> sums(4);
    for (const ChainResult& chain : result.chains) {
      for (std::size_t i = 0; i < chain.record.draws.size(); ++i) {
        const double x = chain.record.draws[i];
        sums[i % 2] += x / 200;
        sums[2 + i % 2] += (x * x - 8.0 / 6) / 200;  // the variance of Student's t
      }
    }
    for (std::size_t k = 0; k < 4; ++k) averages[k].push_back(sums[k]);
  }
  for (const auto& series : averages) {
    double mean = 0;
    double squares = 0;
    for (const double value : series) {
      mean += value / runs;
      squares += value * value / runs;
    }
    EXPECT_LT(std::abs(mean) / std::sqrt((squares - mean * mean) / runs), 4.5);
  }
}

/// N(0, 1) in each coordinate, and a second mode at 20 of weight exp(-offset) and this sd.
Density with_second_mode(std::size_t dimension, double offset, double sd) {
  return FunctionDensity(dimension, [=](std::span<const double> x, std::span<double> gradient) {
    double one = 0;
    double two = -offset - static_cast<double>(x.size()) * std::log(sd);
    for (const double value : x) {
      one -= 0.5 * value * value;
      two -= 0.5 * (value - 20) * (value - 20) / (sd * sd);
    }
    const double sum = log_sum_exp(std::array{one, two});
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -std::exp(one - sum) * x[i] - std::exp(two - sum) * (x[i] - 20) / (sd * sd);
    }
    return sum;
  });
}

std::uint32_t troubles(const ChainResult& chain, WarmupTrouble trouble) {
  return chain.warmup_troubles & trouble;
}

// A quarter of the random starts lead to a mode without mass: such a chain starts again, and if it
// ends there once more, it says so. A mode with as much mass as the other is left alone.
TEST(PooledRun, StartsAgainWhereThereIsNoMass) {
  SampleSettings settings = pooled_run(16);
  settings.initial.initial_radius = 25;
  int restarted = 0;
  for (const ChainResult& chain : sample(with_second_mode(1, 30, 1), settings).chains) {
    restarted += chain.restarted ? 1 : 0;
    EXPECT_EQ(troubles(chain, WarmupTrouble::apart) != 0, chain.record.draws[0] > 10);
  }
  EXPECT_GT(restarted, 0);  // none in 16 would start there with a probability below 1e-2

  for (const ChainResult& chain : sample(with_second_mode(1, 0, 1), settings).chains) {
    EXPECT_FALSE(chain.restarted);
    EXPECT_EQ(troubles(chain, WarmupTrouble::apart), 0U);
  }
}

// A chain that ends up without mass again stays there: there must be an end. A third of the starts
// do; of 48 chains, none does twice with a probability below 1e-2.
TEST(PooledRun, StartsAgainOnce) {
  SampleSettings settings = pooled_run(48);
  settings.initial.initial_radius = 33;
  int again = 0;
  for (const ChainResult& chain : sample(with_second_mode(1, 30, 1), settings).chains) {
    const bool apart = troubles(chain, WarmupTrouble::apart) != 0;
    again += chain.restarted && apart ? 1 : 0;
  }
  EXPECT_GT(again, 0);
}

// With a unit metric, trees of 15 leapfrogs never turn. Warmup waits for a better metric, and
// warns.
TEST(PooledRun, GoesOnWhereTreesReachTheirLimit) {
  SampleSettings settings = pooled_run(2);
  settings.warmup.iterations = 400;
  settings.warmup.metric = MetricKind::unit;
  settings.kernel.nuts.max_depth = 4;
  for (const double sd : {1.0, 1e3}) {
    settings.start = {{0.1, 0.1 * sd}};
    const SampleResult result = sample(DiagonalNormal(std::array{1.0, sd}), settings);
    const bool limited = sd > 1;
    for (const ChainResult& chain : result.chains) {
      EXPECT_EQ(troubles(chain, WarmupTrouble::depth_limit) != 0, limited);
      EXPECT_EQ(chain.warmup_iterations >= 200, limited) << chain.warmup_iterations;
    }
  }
}

// Warmups that are too short end with what had not settled.
TEST(PooledRun, TellsThatTheLogDensityDrifted) {
  SampleSettings settings = pooled_run(2);
  settings.warmup.iterations = 10;
  for (const double from : {0.5, 60.0}) {
    settings.start = {{from, from}};
    for (const ChainResult& chain : sample(DiagonalNormal(std::array{1.0, 1.0}), settings).chains) {
      EXPECT_EQ(troubles(chain, WarmupTrouble::drifts) != 0, from > 1) << from;
    }
  }
}

// No step is accepted often where the log density is rough.
TEST(PooledRun, TellsThatAChainRejects) {
  SampleSettings settings = pooled_run(2);
  settings.warmup.iterations = 30;
  settings.warmup.search_step_size = false;
  settings.start = {{0.5, 0.5}};
  for (const double roughness : {0.0, 10.0}) {
    const FunctionDensity density(2, [=](std::span<const double> x, std::span<double> gradient) {
      for (std::size_t i = 0; i < 2; ++i) gradient[i] = -x[i];
      const double smooth = -0.5 * (x[0] * x[0] + x[1] * x[1]);
      return smooth + roughness * std::sin(1e12 * (x[0] + x[1]));
    });
    for (const ChainResult& chain : sample(Density(density), settings).chains) {
      EXPECT_EQ(troubles(chain, WarmupTrouble::rejects) != 0, roughness > 0) << roughness;
    }
  }
}

// The user's starts are kept.
TEST(PooledRun, StaysWhereTheUserPutIt) {
  SampleSettings settings = pooled_run(3);
  settings.start = {{0}, {1}, {20}};
  const SampleResult result = sample(with_second_mode(1, 30, 1), settings);
  EXPECT_FALSE(result.chains[2].restarted);
  EXPECT_NE(troubles(result.chains[2], WarmupTrouble::apart), 0U);
  EXPECT_GT(result.chains[2].record.draws[0], 10);
}

// Two modes of equal mass, one of them 30 times as narrow: no step size suits both.
TEST(PooledRun, LetsAChainHaveItsOwnStepSize) {
  SampleSettings settings = pooled_run(4);
  settings.warmup.iterations = 100;
  settings.start = {{0, 0}, {1, 0}, {0, 1}, {20, 20}};
  const SampleResult result = sample(with_second_mode(2, 0, 1.0 / 30), settings);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(troubles(result.chains[c], WarmupTrouble::own_step_size) != 0, c == 3) << c;
  }
  EXPECT_LT(result.chains[3].tuning.step_size, 0.5 * result.chains[0].tuning.step_size);
}

TEST(PooledRun, BeginsWithTheMetricOfTheUser) {
  SampleSettings settings = pooled_run(2);
  settings.warmup.iterations = 1;
  const auto given = make_diagonal_metric(std::vector<double>(7, 0.7));
  settings.warmup.initial_metric = given;
  EXPECT_EQ(sample(Looped(), settings).chains[0].tuning.metric, given);
  settings.warmup.initial_metric = nullptr;
  EXPECT_EQ(sample(Looped(), settings).chains[0].tuning.metric->kind(), MetricKind::low_rank)
      << "of the climb";
  settings.warmup.metric = MetricKind::diagonal;
  EXPECT_EQ(sample(Looped(), settings).chains[0].tuning.metric->kind(), MetricKind::diagonal);
  settings.warmup.metric = MetricKind::unit;
  EXPECT_EQ(sample(Looped(), settings).chains[0].tuning.metric->kind(), MetricKind::unit);
}

TEST(PooledRun, WithoutIterationsKeepsStartAndStepSize) {
  SampleSettings settings = pooled_run(2);
  settings.warmup.iterations = 0;
  settings.warmup.step_size = 0.4;
  const SampleResult result = sample(Looped(), settings);
  EXPECT_EQ(result.chains[0].gradients_start, 0U);
  EXPECT_EQ(result.chains[0].tuning.step_size, 0.4);
  EXPECT_EQ(result.chains[0].tuning.metric->kind(), MetricKind::unit);
}

struct BadDensity {
  std::string name;
  std::size_t dimension;
  std::function<double(double)> value;
  std::function<double(double)> slope;
  enum Outcome { draws, warning, error } outcome;
  std::string says = "";  ///< the error
};

class PooledRunOfABadDensity : public ::testing::TestWithParam<BadDensity> {};

/// In support, and with a warning where the density has no law to sample from.
void expect_draws(const SampleResult& result, const BadDensity& bad) {
  for (const ChainResult& chain : result.chains) {
    EXPECT_EQ(chain.record.size(), 10U);
    for (const double x : chain.record.draws) EXPECT_TRUE(std::isfinite(bad.value(x))) << x;
    if (bad.outcome == BadDensity::warning) {
      EXPECT_NE(chain.warmup_troubles, 0U);
    }
  }
}

// A clear error, a warning, or draws: within the gradients of 40 iterations of trees of full depth.
TEST_P(PooledRunOfABadDensity, EndsInBoundedGradients) {
  const BadDensity& bad = GetParam();
  std::atomic<std::uint64_t> calls = 0;
  const Density density(
      FunctionDensity(bad.dimension, [&](std::span<const double> x, std::span<double> gradient) {
        ++calls;
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          sum += bad.value(x[i]);
          gradient[i] = bad.slope(x[i]);
        }
        return sum;
      }));
  SampleSettings settings = pooled_run(2);
  settings.warmup.iterations = 30;
  settings.draws = 10;
  settings.kernel.nuts.max_depth = 8;
  std::string says;
  try {
    expect_draws(sample(density, settings), bad);
  } catch (const ModelError& error) {
    says = error.what();
  }
  EXPECT_EQ(bad.outcome == BadDensity::error, !says.empty()) << says;
  EXPECT_NE(says.find(bad.says), std::string::npos) << says;
  EXPECT_LT(calls, 2 * 40 * 256 + 2 * 1000);
}

INSTANTIATE_TEST_SUITE_P(
    All, PooledRunOfABadDensity,
    ::testing::Values(
        BadDensity{"improper", 3, [](double x) { return x; }, [](double) { return 1.0; },
                   BadDensity::error, "is the posterior proper?"},
        BadDensity{"constant", 2, [](double) { return 0.0; }, [](double) { return 0.0; },
                   BadDensity::error, "is the posterior proper?"},
        BadDensity{"improper_tail", 1, [](double x) { return -0.4 * std::log1p(x * x); },
                   [](double x) { return -0.8 * x / (1 + x * x); }, BadDensity::warning},
        BadDensity{"pole", 2, [](double x) { return -std::log(std::abs(x)) - x * x; },
                   [](double x) { return -1 / x - 2 * x; }, BadDensity::warning},
        BadDensity{"unbounded", 2, [](double x) { return 0.5 * x * x; }, [](double x) { return x; },
                   BadDensity::warning},
        BadDensity{"unbounded_steeply", 2, [](double x) { return std::exp(x); },
                   [](double x) { return std::exp(x); }, BadDensity::warning},
        BadDensity{"mostly_nan", 2, [](double x) { return std::abs(x) < 0.5 ? -x * x : nan_value; },
                   [](double x) { return -2 * x; }, BadDensity::draws},
        BadDensity{"nearly_always_nan", 2,
                   [](double x) { return std::abs(x) < 1e-4 ? -x * x : nan_value; },
                   [](double x) { return -2 * x; }, BadDensity::error,
                   "no usable starting point in 100 tries"},
        BadDensity{"one_dimension", 1, [](double x) { return -0.5 * x * x; },
                   [](double x) { return -x; }, BadDensity::draws},
        BadDensity{"discontinuous", 2, [](double x) { return -0.5 * x * x - (x > 0.5 ? 10 : 0); },
                   [](double x) { return -x; }, BadDensity::draws},
        BadDensity{"wrong_gradient", 2, [](double x) { return -0.5 * x * x; },
                   [](double x) { return x; }, BadDensity::warning},
        BadDensity{"half_line", 2, [](double x) { return x > 0 ? -x : -infinity; },
                   [](double) { return -1.0; }, BadDensity::draws}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace rehmc::pooled_test
