// The story of all chains together.
#include "rehmc/summary/warmup_summary.hpp"

#include <gtest/gtest.h>

#include "rehmc/dynamics/metric.hpp"

namespace rehmc::warmup_summary_test {
namespace {

ChainResult chain_with(std::size_t stages) {
  ChainResult chain;
  chain.tuning = {1, make_unit_metric(2)};
  chain.story.ended = "it was enough";
  chain.story.stages.resize(stages);
  for (StageStory& stage : chain.story.stages) stage.gradients = 10;
  return chain;
}

TEST(WarmupSummary, AddsUpTheStagesOfAllChains) {
  SampleResult result;
  result.chains = {chain_with(2), chain_with(2)};
  const WarmupSummary summary = summarise_warmup(result);
  ASSERT_EQ(summary.stages.size(), 2U);
  EXPECT_EQ(summary.stages[1].gradients, 20U);
}

/// As in a checkpoint that was edited.
TEST(WarmupSummary, ToleratesChainsWithoutAStage) {
  SampleResult result;
  result.chains = {chain_with(2), chain_with(1)};
  const WarmupSummary summary = summarise_warmup(result);
  ASSERT_EQ(summary.stages.size(), 2U);
  EXPECT_EQ(summary.stages[0].gradients, 20U);
  EXPECT_EQ(summary.stages[1].gradients, 10U);
}

}  // namespace
}  // namespace rehmc::warmup_summary_test
