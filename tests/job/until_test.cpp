// Conditions for stopping: what can be written, what cannot, and when they hold.
#include "rehmc/job/until.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc::until_test {
namespace {

using Statistic = Condition::Statistic;

ParameterSummary row(const std::string& name, double rhat, double bulk, double tail, double mcse,
                     double sd) {
  ParameterSummary summary;
  summary.name = name;
  summary.convergence.rhat = rhat;
  summary.convergence.ess_bulk = bulk;
  summary.convergence.ess_tail = tail;
  summary.plain.mcse_mean = mcse;
  summary.plain.sd = sd;
  summary.plain.mcse_sd = 2 * mcse;
  summary.plain.quantiles = {{0.975, 0, 3 * mcse, 0}};
  return summary;
}

bool holds(const std::string& text, const std::vector<ParameterSummary>& summary) {
  const auto conditions = parse_until(text);
  bool all = true;
  for (const Condition& condition : conditions) all = all && judge(condition, {summary}).met;
  return all;
}

TEST(Until, ReadsWhatIsWritten) {
  const auto conditions = parse_until(" ess >= 400, rhat<=1.01,mcse(mean)<=0.01*sd,mcse(q97.5)<=2");
  ASSERT_EQ(conditions.size(), 4U);
  EXPECT_EQ(conditions[0].statistic, Statistic::ess);
  EXPECT_EQ(conditions[0].limit, 400);
  EXPECT_EQ(conditions[1].statistic, Statistic::rhat);
  EXPECT_EQ(conditions[1].limit, 1.01);
  EXPECT_EQ(conditions[2].statistic, Statistic::mcse_mean);
  EXPECT_TRUE(conditions[2].relative_to_sd);
  EXPECT_EQ(conditions[2].limit, 0.01);
  EXPECT_EQ(conditions[3].statistic, Statistic::mcse_quantile);
  EXPECT_EQ(conditions[3].probability, 0.975);
  EXPECT_FALSE(conditions[3].relative_to_sd);
  EXPECT_EQ(parse_until("ess_bulk>=1")[0].statistic, Statistic::ess_bulk);
  EXPECT_EQ(parse_until("ess_tail>=1")[0].statistic, Statistic::ess_tail);
  EXPECT_EQ(parse_until("mcse(sd)<=1")[0].statistic, Statistic::mcse_sd);
}

TEST(Until, RefusesWhatMakesNoSense) {
  for (const char* text : {"",
                           ",",
                           "ess",
                           "ess>400",
                           "ess<=400",
                           "rhat>=1",
                           "rhat<=1",
                           "rhat<=0.9",
                           "ess>=",
                           "ess>=x",
                           "ess>=-4",
                           "ess>=nan",
                           "ess>=inf",
                           "ess>=400;rhat<=1.1",
                           "ess>=400,",
                           "ss>=400",
                           "mcse<=0.1",
                           "mcse(q13)<=1",
                           "mcse(q)<=1",
                           "mcse(mean)>=0.1",
                           "mcse(mean)<=0.1*mean",
                           "ess>=400*sd",
                           "rhat<=1.1*sd",
                           "mcse(mean)<=0",
                           "precisely",
                           "stein<=1",
                           "rhat<=health"}) {
    try {
      parse_until(text);
      ADD_FAILURE() << text;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("until"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("ess>=400"), std::string::npos);
    }
  }
}

TEST(Until, HoldsIfAllParametersMeetIt) {
  const std::vector<ParameterSummary> summary{row("a", 1.001, 500, 300, 0.1, 10),
                                              row("b", 1.02, 600, 700, 0.2, 40)};
  EXPECT_TRUE(holds("ess>=300", summary));
  EXPECT_FALSE(holds("ess>=301", summary));
  EXPECT_TRUE(holds("ess_bulk>=500", summary));
  EXPECT_FALSE(holds("ess_bulk>=501", summary));
  EXPECT_TRUE(holds("rhat<=1.02", summary));
  EXPECT_FALSE(holds("rhat<=1.01", summary));
  EXPECT_FALSE(holds("ess>=300,rhat<=1.01", summary));
  EXPECT_TRUE(holds("mcse(mean)<=0.2", summary));
  EXPECT_FALSE(holds("mcse(mean)<=0.19", summary));
  EXPECT_TRUE(holds("mcse(mean)<=0.01*sd", summary));
  EXPECT_FALSE(holds("mcse(mean)<=0.009*sd", summary));
  EXPECT_FALSE(holds("mcse(sd)<=0.3", summary));
  EXPECT_TRUE(holds("mcse(q97.5)<=0.61", summary));
  EXPECT_FALSE(holds("mcse(q97.5)<=0.59", summary));
  const Verdict verdict = judge(parse_until("rhat<=1.01")[0], {summary});
  EXPECT_EQ(verdict.worst_name, "b");
  EXPECT_EQ(verdict.worst_value, 1.02);
}

TEST(Until, UsesTheRecycledErrorIfThereIsOne) {
  std::vector<ParameterSummary> summary{row("a", 1, 500, 500, 0.1, 10)};
  summary[0].recycled = summary[0].plain;
  summary[0].recycled->mcse_mean = 0.01;
  EXPECT_TRUE(holds("mcse(mean)<=0.02", summary));
}

TEST(Until, PreciseStandsForSeveralConditions) {
  const auto conditions = parse_until("precise");
  const auto spelled = parse_until(
      "rhat<=healthy,stein,mcse(mean)<=0.02*sd,mcse(sd)<=0.03*sd,mcse(q5)<=0.05*sd,"
      "mcse(q95)<=0.05*sd");
  ASSERT_EQ(conditions.size(), spelled.size());
  for (std::size_t i = 0; i < spelled.size(); ++i) EXPECT_EQ(conditions[i].text, spelled[i].text);
  EXPECT_EQ(parse_until("precise,ess>=1000").size(), spelled.size() + 1);
}

// Healthy chains of 100 draws may differ more than those of 10,000.
TEST(Until, KnowsHowWellChainsOfTheirLengthAgree) {
  std::vector<ParameterSummary> summary{row("a", 1.03, 500, 500, 0.1, 10)};
  const Condition healthy = parse_until("rhat<=healthy")[0];
  summary[0].convergence.ess_within = 100;
  const double limit = most_healthy_rhat(4, 100, summary[0].convergence, 1);
  ASSERT_GT(limit, 1.03);
  EXPECT_TRUE(judge(healthy, {summary, nullptr, 4, 100}).met);
  summary[0].convergence.rhat = limit + 0.001;
  EXPECT_FALSE(judge(healthy, {summary, nullptr, 4, 100}).met);
  summary[0].convergence.rhat = 1.03;
  summary[0].convergence.ess_within = 10000;
  EXPECT_FALSE(judge(healthy, {summary, nullptr, 4, 10000}).met);
}

TEST(Until, WantsTheSteinCheckToPassIfThereIsOne) {
  const std::vector<ParameterSummary> summary{row("a", 1, 500, 500, 0.1, 10)};
  const Condition stein = parse_until("stein")[0];
  Sharpening sharpening;
  EXPECT_TRUE(judge(stein, {summary, &sharpening}).met);
  sharpening.check.emplace();
  sharpening.check->worst = 3;
  sharpening.check->limit = 4;
  sharpening.worst_name = "a";
  EXPECT_TRUE(judge(stein, {summary, &sharpening}).met);
  sharpening.check->worst = 5;
  EXPECT_FALSE(judge(stein, {summary, &sharpening}).met);
  EXPECT_EQ(judge(stein, {summary, &sharpening}).worst_value, 5);
}

// With two degrees of freedom a 95% interval is 4.30 / 1.96 times as wide as that of a normal law.
TEST(Until, CountsInHowWellErrorsAreKnown) {
  constexpr double two = 4.302652729911275 / 1.959963984540054;
  std::vector<ParameterSummary> summary{row("a", 1, 500, 500, 0.1, 10)};
  Estimate& plain = summary[0].plain;
  const double mcse_sd = plain.mcse_sd;
  const QuantileEstimate last = plain.quantiles.back();
  const auto widened = [&](const std::string& statistic, double mcse) {
    return judge(parse_until(fmt::format("mcse({})<=1", statistic))[0], {summary}).worst_value /
           mcse;
  };
  const std::string quantile = fmt::format("q{}", 100 * last.probability);
  EXPECT_DOUBLE_EQ(widened("mean", 0.1), 1);
  EXPECT_DOUBLE_EQ(widened("sd", mcse_sd), 1);
  EXPECT_DOUBLE_EQ(widened(quantile, last.mcse), 1);
  plain.degrees_mean = plain.degrees_sd = plain.quantiles.back().degrees = 2;
  EXPECT_NEAR(widened("mean", 0.1), two, 1e-9);
  EXPECT_NEAR(widened("sd", mcse_sd), two, 1e-9);
  EXPECT_NEAR(widened(quantile, last.mcse), two, 1e-9);
}

// A chain that never moves has no error bar: that is not an error of 0.
TEST(Until, IsNeverMetByNaN) {
  for (const std::size_t at : {0U, 1U}) {
    std::vector<ParameterSummary> summary{row("a", 1, 500, 500, 0.1, 10),
                                          row("b", 1, 500, 500, 0.1, 10)};
    const double nan = std::nan("");
    summary[at] = row("stuck", nan, nan, nan, nan, nan);
    for (const char* text : {"ess>=1", "rhat<=2", "mcse(mean)<=9", "mcse(mean)<=9*sd"}) {
      EXPECT_FALSE(holds(text, summary)) << text;
      EXPECT_EQ(judge(parse_until(text)[0], {summary}).worst_name, "stuck");
    }
  }
}

// What a look sharpens first: if these fail, all others need not be sharpened.
TEST(Until, FindsTheParametersThatAreFurthest) {
  std::vector<ParameterSummary> summary{
      row("a", 1, 500, 500, 0.1, 10), row("b", 1, 500, 500, 0.3, 10), row("c", 1, 500, 500, 0.2, 1),
      row("d", 1, 500, 500, 0.9, 1)};
  summary[3].convergence.check.condition = DrawsCondition::constant;
  const auto places = [&](const std::string& text, std::size_t count) {
    return furthest(parse_until(text), {summary}, count);
  };
  EXPECT_EQ(places("mcse(mean)<=1", 2), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(places("rhat<=1.01,mcse(mean)<=1*sd", 9), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(Until, LooksAtTheSameDrawsHoweverFarARunIs) {
  EXPECT_EQ(next_look(0, 1000), 100U);
  EXPECT_EQ(next_look(100, 1000), 100U);
  EXPECT_EQ(next_look(101, 1000), 125U);
  EXPECT_EQ(next_look(990, 1000), 1000U);
  EXPECT_EQ(next_look(0, 50), 50U);
  std::vector<std::uint64_t> looks;
  for (std::uint64_t at = next_look(0, 5000);; at = next_look(at + 1, 5000)) {
    looks.push_back(at);
    if (at == 5000) break;
  }
  for (std::uint64_t done = 0; done <= 5000; ++done) {
    const auto expected = std::lower_bound(looks.begin(), looks.end(), done);
    ASSERT_EQ(next_look(done, 5000), *expected);
  }
}

}  // namespace
}  // namespace rehmc::until_test
