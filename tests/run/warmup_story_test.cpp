// The story of warmup: it adds up, survives a stored chain, and tells what happened.
#include "rehmc/adapt/warmup_story.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/wishart.hpp"
#include "rehmc/adapt/warmup_group.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/run/chain.hpp"
#include "rehmc/run/sample.hpp"

namespace rehmc::warmup_story_test {
namespace {

constexpr std::size_t dimension = 7;

/// As many degrees of freedom as dimensions: a large condition number.
constexpr WishartSettings wishart{.dimension = dimension, .degrees_of_freedom = dimension};

CorrelatedNormal normal() { return CorrelatedNormal(wishart_draw(wishart)); }

SampleSettings pooled_run() {
  SampleSettings settings;
  settings.threads = 1;
  settings.draws = 20;
  settings.seed = 7;
  return settings;
}

std::string bytes_of(const WarmupStory& story) {
  ArchiveWriter writer;
  writer(story);
  return std::move(writer).take();
}

TEST(WarmupStory, AddsUpToTheGradientsOfWarmup) {
  const SampleResult result = sample(normal(), pooled_run());
  for (const ChainResult& chain : result.chains) {
    const WarmupStory& story = chain.story;
    EXPECT_EQ(story.start, StartOutcome::pathfinder);
    std::uint64_t gradients = chain.gradients_start;
    for (const StageStory& stage : story.stages) gradients += stage.gradients;
    EXPECT_EQ(gradients, chain.gradients_warmup);
    EXPECT_EQ(story.stages.back().iterations, chain.warmup_iterations);
    EXPECT_EQ(story.stages.back().step_size, chain.tuning.step_size);
    EXPECT_EQ(story.ended, "metric and step size are stable");
  }
}

TEST(WarmupStory, NamesTheEstimatorWithTheLeastLoss) {
  const SampleResult result = sample(normal(), pooled_run());
  bool any = false;
  for (const StageStory& stage : result.chains[0].story.stages) {
    EXPECT_GE(stage.tried.size(), 3U);
    if (stage.estimator.empty()) continue;
    any = true;
    for (const MetricTrial& trial : stage.tried) {
      EXPECT_GE(trial.loss, stage.loss) << trial.estimator;
      EXPECT_EQ(trial.estimator == stage.estimator, trial.loss == stage.loss);
    }
  }
  EXPECT_TRUE(any);
}

// The metric of a normal density is exact, so that nothing is left of its condition number.
TEST(WarmupStory, HasTheConditionNumberBeforeAndAfter) {
  const WarmupStory story = sample(normal(), pooled_run()).chains[0].story;
  const std::vector<double> values = wishart_eigenvalues(wishart);
  const auto [least, most] = std::ranges::minmax_element(values);
  const double known = *most / *least;
  EXPECT_GT(known, 50);
  EXPECT_NEAR(story.condition / known, 1, 0.05);
  EXPECT_NEAR(story.condition_left, 1, 0.05);
}

TEST(WarmupStory, SurvivesAStoredChain) {
  const Density density = normal();
  SampleSettings settings = pooled_run();
  settings.chains = 1;
  constexpr Address address{7, 0, 0};
  Chain straight(density, settings, address);
  auto stored = std::make_unique<Chain>(density, settings, address);
  const auto advance = [](Chain& chain) {
    if (!chain.waiting()) return static_cast<void>(chain.step());
    const PooledWarmup* const warmup = chain.pooled();
    chain.adopt(pool({&warmup, 1}));
  };
  while (!straight.warm()) {
    ArchiveWriter writer;
    writer(*stored);
    ArchiveReader reader(writer.bytes());
    stored = std::make_unique<Chain>(density, settings, address, reader);
    // The spot check that follows warmup draws its direction by the address.
    ASSERT_EQ(stored->address().iteration, straight.address().iteration);
    advance(straight);
    advance(*stored);
    ASSERT_EQ(bytes_of(stored->facts().story), bytes_of(straight.facts().story));
  }
  EXPECT_GE(straight.facts().story.stages.size(), 2U);
}

TEST(WarmupStory, IsShorterForTheScheduleOfStan) {
  SampleSettings settings;
  settings.threads = 1;
  settings.seed = 3;
  settings.draws = 10;
  settings.warmup.schedule = WarmupSchedule::stan;
  settings.warmup.iterations = 200;
  WarmupStory story = sample(normal(), settings).chains[0].story;
  EXPECT_EQ(story.start, StartOutcome::random);
  EXPECT_TRUE(story.stages.empty());
  EXPECT_EQ(story.ended, "all iterations are done");
  EXPECT_GT(story.condition, 1);
  EXPECT_TRUE(std::isnan(story.condition_left));

  settings.start = {std::vector<double>(dimension, 0.5)};
  settings.warmup.iterations = 0;
  story = sample(normal(), settings).chains[0].story;
  EXPECT_EQ(story.start, StartOutcome::given);
  EXPECT_EQ(story.ended, "there was none");
}

TEST(WarmupStory, SaysThatPathfinderDidNotHelp) {
  // An end of the density without a top: the climb runs against it.
  const FunctionDensity half_line(2, [](std::span<const double> x, std::span<double> gradient) {
    for (double& g : gradient) g = -1;
    return x[0] > 0 && x[1] > 0 ? -x[0] - x[1] : -std::numeric_limits<double>::infinity();
  });
  const WarmupStory story = sample(half_line, pooled_run()).chains[0].story;
  EXPECT_EQ(story.start, StartOutcome::pathfinder_no_help);
}

// One derivative is off by a hundredth: found for every coordinate, with warmup of a few gradients.
TEST(SpotCheckOfARun, CoversEveryCoordinate) {
  constexpr std::size_t d = 10;
  for (std::size_t wrong = 0; wrong < d; ++wrong) {
    const FunctionDensity density(d, [=](std::span<const double> x, std::span<double> gradient) {
      double sum = 0;
      for (std::size_t i = 0; i < d; ++i) {
        gradient[i] = -x[i] - 1;
        sum -= x[i] * x[i] / 2 + x[i];
      }
      gradient[wrong] *= 1.01;
      return sum;
    });
    SampleSettings settings;
    settings.threads = 1;
    settings.seed = 1;
    settings.draws = 1;
    // A climb would end where some derivatives are near 0, and their errors with them.
    settings.warmup.schedule = WarmupSchedule::stan;
    settings.warmup.iterations = 2;
    const std::string name = stan_name(Density(density).names()[wrong]);
    int found = 0;
    for (const ChainResult& chain : sample(density, settings).chains) {
      EXPECT_LE(chain.spot_check.directions, 6U);
      EXPECT_GE(chain.spot_check.evaluations, 5 * chain.spot_check.directions);
      if (chain.spot_check.where == name) ++found;
    }
    EXPECT_GE(found, 1) << name;
  }
}

}  // namespace
}  // namespace rehmc::warmup_story_test
