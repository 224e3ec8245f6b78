// Summaries come back from bytes as they were, or not at all.
#include "rehmc/summary/stored_estimates.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rehmc/run/sample.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::stored_estimates_test {
namespace {

SampleResult run() {
  SampleSettings settings;
  settings.seed = 2;
  settings.draws = 300;
  settings.warmup.iterations = 200;
  return sample(testing::Bumpy(3), settings);
}

std::string json(const RunSummary& summary) { return summary_json(summary, "bumpy", 2); }

TEST(StoredEstimates, come_back_to_the_bit) {
  SampleResult result = run();
  result.chains[1].quantity_failures.kept = 7;
  RunSummary summary = summarise_run(result);
  ASSERT_TRUE(summary.parameters.front().sharpened);
  LooSummary loo;
  loo.names = {"a", "b"};
  loo.loo.points = {{-1, -0.9, 0.2}, {-2, -1.8, 0.3}};
  loo.loo.elpd = -3;
  summary.loo = loo;
  const std::string bytes = archive_estimates(summary, result, "key");
  SampleResult again = result;
  again.chains[1].quantity_failures.kept = 0;
  const auto restored = restore_summary(bytes, "key", again);
  ASSERT_TRUE(restored);
  EXPECT_EQ(json(*restored), json(summary));
  EXPECT_EQ(restored->draws, summary.draws);
}

TEST(StoredEstimates, of_other_draws_or_damaged_ones_are_not_used) {
  SampleResult result = run();
  const std::string bytes = archive_estimates(summarise_run(result), result, "key");
  EXPECT_FALSE(restore_summary(bytes, "other key", result));
  EXPECT_FALSE(restore_summary("", "key", result));
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(restore_summary(damaged, "key", result)) << at;
    EXPECT_FALSE(restore_summary(bytes.substr(0, at), "key", result)) << at;
  }
}

TEST(StoredEstimates, that_do_not_fit_together_are_not_used) {
  SampleResult result = run();
  const RunSummary whole = summarise_run(result);
  ASSERT_TRUE(whole.parameters.front().recycled && whole.parameters.front().sharpened);
  const auto is_used = [&](const auto& damage) {
    RunSummary summary = whole;
    damage(summary);
    return restore_summary(archive_estimates(summary, result, "key"), "key", result).has_value();
  };
  EXPECT_TRUE(is_used([](RunSummary&) {}));
  EXPECT_FALSE(is_used([](RunSummary& s) { s.parameters[0].plain.quantiles.clear(); }));
  EXPECT_FALSE(is_used([](RunSummary& s) { s.parameters[1].recycled->quantiles.pop_back(); }));
  EXPECT_FALSE(
      is_used([](RunSummary& s) { s.parameters[2].plain.quantiles[3].probability = 0.6; }));
  EXPECT_FALSE(is_used(
      [](RunSummary& s) { s.parameters[0].sharpened->quantile_sets.push_back(FeatureSet::none); }));
  EXPECT_FALSE(is_used([](RunSummary& s) {
    s.loo.emplace();
    s.loo->loo.points = {{-1, -0.9, 0.2}};
  }));
  EXPECT_TRUE(is_used([](RunSummary& s) {
    s.loo.emplace();
    s.loo->names = {"a"};
    s.loo->refused = "too few";
  }));
}

}  // namespace
}  // namespace rehmc::stored_estimates_test
