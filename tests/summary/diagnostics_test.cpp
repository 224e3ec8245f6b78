// Warnings: each is given when it should, with a remedy, and not otherwise.
#include "rehmc/summary/diagnostics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rehmc/adapt/pooled_warmup.hpp"

namespace rehmc::diagnostics_test {
namespace {

/// Four chains of 100 draws, with nothing wrong.
SampleResult healthy_result() {
  SampleResult result;
  result.names = {"a", "b"};
  for (int c = 0; c < 4; ++c) {
    ChainResult& chain = result.chains.emplace_back();
    chain.record.columns = {0, 1};
    chain.record.centre = {0, 0};
    for (int i = 0; i < 100; ++i) {
      chain.record.draws.insert(chain.record.draws.end(), {0.0, 0.0});
      chain.record.log_density.push_back(0);
      chain.record.ending.push_back(Ending::turned);
      chain.record.energy.push_back(i % 2 == 0 ? 1.0 : -1.0);  // E-BFMI near 4
    }
    chain.gradients_warmup = 10;
    chain.gradients_sampling = 20;
    chain.seconds_warmup = 1;
    chain.seconds_sampling = 2;
  }
  return result;
}

std::vector<ParameterSummary> healthy_summary() {
  std::vector<ParameterSummary> summary;
  for (const char name : {'a', 'b'}) {
    ParameterSummary& row = summary.emplace_back();
    row.name.push_back(name);
    row.convergence.rhat = 1.001;
    row.convergence.ess_bulk = row.convergence.ess_tail = 1000;
  }
  return summary;
}

std::vector<std::string> kinds(const Diagnostics& diagnostics) {
  std::vector<std::string> all;
  for (const Warning& warning : diagnostics.warnings) all.push_back(warning.kind);
  return all;
}

using Kinds = std::vector<std::string>;

TEST(Diagnostics, AddUpTheChains) {
  const Diagnostics diagnostics = diagnose(healthy_result(), healthy_summary());
  EXPECT_EQ(kinds(diagnostics), Kinds{});
  EXPECT_EQ(diagnostics.gradients_warmup, 40U);
  EXPECT_EQ(diagnostics.gradients_sampling, 80U);
  EXPECT_EQ(diagnostics.seconds_warmup, 4);
  EXPECT_EQ(diagnostics.seconds_sampling, 8);
  ASSERT_EQ(diagnostics.ebfmi.size(), 4U);
  EXPECT_GT(diagnostics.ebfmi[0], 3);
}

TEST(Diagnostics, WarnOfDivergencesAndOfTheDepthLimit) {
  SampleResult result = healthy_result();
  result.chains[1].record.ending[5] = Ending::diverged;
  result.chains[2].record.ending[6] = Ending::diverged;
  Diagnostics diagnostics = diagnose(result, healthy_summary());
  EXPECT_EQ(kinds(diagnostics), Kinds{"divergences"});
  EXPECT_EQ(diagnostics.divergences, 2U);
  EXPECT_NE(diagnostics.warnings[0].text.find("2 of 400 draws (0.5%)"), std::string::npos);
  EXPECT_NE(diagnostics.warnings[0].text.find("--target-accept"), std::string::npos);

  result = healthy_result();
  result.chains[0].record.ending[0] = Ending::depth_limit;
  diagnostics = diagnose(result, healthy_summary());
  EXPECT_EQ(kinds(diagnostics), Kinds{"depth_limit"});
  EXPECT_EQ(diagnostics.depth_limit_hits, 1U);
  EXPECT_NE(diagnostics.warnings[0].text.find("--max-depth"), std::string::npos);
}

TEST(Diagnostics, WarnOfWhatWarmupCouldNotMend) {
  const auto text_of = [](std::uint32_t troubles) {
    SampleResult result = healthy_result();
    result.chains[2].warmup_troubles = troubles;
    const Diagnostics diagnostics = diagnose(result, healthy_summary());
    EXPECT_EQ(kinds(diagnostics), Kinds{"warmup"});
    return diagnostics.warnings[0].text;
  };
  EXPECT_NE(text_of(WarmupTrouble::drifts).find("drifted"), std::string::npos);
  EXPECT_NE(text_of(WarmupTrouble::drifts).find("--warmup"), std::string::npos);
  EXPECT_NE(text_of(WarmupTrouble::apart).find("chain 3 ended"), std::string::npos);
  EXPECT_NE(text_of(WarmupTrouble::own_step_size).find("chain 3 took"), std::string::npos);
}

TEST(Diagnostics, WarnOfEnergiesThatHardlyChange) {
  SampleResult result = healthy_result();
  for (std::size_t i = 0; i < 100; ++i) {
    result.chains[2].record.energy[i] = static_cast<double>(i);  // a drift: E-BFMI near 0
  }
  const Diagnostics diagnostics = diagnose(result, healthy_summary());
  EXPECT_EQ(kinds(diagnostics), Kinds{"ebfmi"});
  EXPECT_NE(diagnostics.warnings[0].text.find("chain 3"), std::string::npos);
}

TEST(Diagnostics, WarnOfQuantitiesThatTheModelFailedToCompute) {
  SampleResult result = healthy_result();
  result.chains[1].quantity_failures = {3, 0};
  result.chains[3].quantity_failures = {4, 0};
  Diagnostics diagnostics = diagnose(result, healthy_summary());
  EXPECT_EQ(kinds(diagnostics), Kinds{"quantities"});
  EXPECT_NE(diagnostics.warnings[0].text.find(" 7 of 400 draws;"), std::string::npos);
  result.chains[0].quantity_failures = {0, 20};
  diagnostics = diagnose(result, healthy_summary());
  EXPECT_NE(diagnostics.warnings[0].text.find(" 7 of 400 draws and 20 recycled states;"),
            std::string::npos);
}

TEST(Diagnostics, WarnOfChainsThatDisagree) {
  std::vector<ParameterSummary> summary = healthy_summary();
  summary[1].convergence.rhat = 1.02;
  Diagnostics diagnostics = diagnose(healthy_result(), summary);
  EXPECT_EQ(kinds(diagnostics), Kinds{"rhat"});
  EXPECT_NE(diagnostics.warnings[0].text.find("1.020"), std::string::npos);
  EXPECT_NE(diagnostics.warnings[0].text.find(" b:"), std::string::npos);

  summary = healthy_summary();
  summary[0].convergence.ess_tail = 399;  // 100 for each of 4 chains
  diagnostics = diagnose(healthy_result(), summary);
  EXPECT_EQ(kinds(diagnostics), Kinds{"ess"});
  EXPECT_NE(diagnostics.warnings[0].text.find("399"), std::string::npos);
}

// 4 x 100 healthy draws of 2 parameters exceed 1.026 in a run of a hundred, those of 500 parameters
// 1.05.
TEST(Diagnostics, ExcuseTheRhatOfAShortRun) {
  std::vector<ParameterSummary> summary = healthy_summary();
  summary[1].convergence.ess_within = 400;
  summary[1].convergence.rhat = 1.02;
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{});
  summary[1].convergence.rhat = 1.04;
  const Diagnostics diagnostics = diagnose(healthy_result(), summary);
  EXPECT_EQ(kinds(diagnostics), Kinds{"rhat"});
  EXPECT_NE(diagnostics.warnings[0].text.find("1.040 (above 1.02"), std::string::npos)
      << diagnostics.warnings[0].text;
  summary.resize(500, healthy_summary()[0]);
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{});
  // Longer runs have no such excuse.
  SampleResult longer = healthy_result();
  for (ChainResult& chain : longer.chains) {
    for (int doubling = 0; doubling < 4; ++doubling) {
      auto& draws = chain.record.log_density;
      draws.resize(2 * draws.size());
      chain.record.ending.resize(draws.size(), Ending::turned);
    }
  }
  summary[1].convergence.ess_within = 6400;
  EXPECT_EQ(kinds(diagnose(longer, summary)), Kinds{"rhat"});
}

// What could not be assessed is not reported as fine.
TEST(Diagnostics, WarnOfWhatCannotBeJudged) {
  const double nan = std::nan("");
  std::vector<ParameterSummary> summary = healthy_summary();
  summary[0].convergence = {nan, nan, nan, {DrawsCondition::stuck, {2}}};
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{"stuck"});
  // A binary prediction with a probability near 1 is constant in some chains.
  summary[0].generated = true;
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{});
  summary[0].convergence = {nan, nan, nan, {DrawsCondition::not_finite, {2}}};
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{"not_finite"});
  summary[0].convergence = {nan, nan, nan, {DrawsCondition::too_short, {}}};
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{"too_short"});
  summary[0].convergence = {nan, nan, nan, {DrawsCondition::ordinary, {}}};
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{"too_short"});
  summary[0].convergence = {nan, nan, nan, {DrawsCondition::constant, {}}};
  EXPECT_EQ(kinds(diagnose(healthy_result(), summary)), Kinds{});
}

TEST(Diagnostics, NameOnlyTheFirstFewOfMany) {
  std::vector<ParameterSummary> summary(50, healthy_summary()[0]);
  for (std::size_t i = 0; i < summary.size(); ++i) {
    summary[i].name = std::string("p.").append(std::to_string(i + 1));
    summary[i].convergence.rhat = 1.5;
  }
  const Diagnostics diagnostics = diagnose(healthy_result(), summary);
  EXPECT_NE(diagnostics.warnings[0].text.find("p.1, p.2, p.3 and 47 more"), std::string::npos);
}

}  // namespace
}  // namespace rehmc::diagnostics_test
