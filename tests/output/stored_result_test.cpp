// Saved fits come back to the bit, or not at all.
#include "rehmc/output/stored_result.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/run/sample.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::stored_result_test {
namespace {

SampleResult short_run() {
  SampleSettings settings;
  settings.seed = 2;
  settings.draws = 30;
  settings.chains = 2;
  settings.warmup.iterations = 50;
  return sample(testing::Bumpy(3), settings);
}

TEST(StoredResult, ComesBackToTheBit) {
  const SampleResult result = short_run();
  const std::string bytes = archive_result(result);
  EXPECT_EQ(archive_result(restore_result(bytes)), bytes);
  EXPECT_EQ(restore_result(bytes).chains[1].record.kept, result.chains[1].record.kept);
}

TEST(StoredResult, MayHaveChainsThatNeverBegan) {
  SampleResult result = short_run();
  result.chains[1] = {};
  EXPECT_EQ(restore_result(archive_result(result)).chains[1].record.size(), 0U);
}

TEST(StoredResult, IsNotReadIfItWasChanged) {
  const std::string bytes = archive_result(short_run());
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_THROW(restore_result(damaged), DataError) << at;
    EXPECT_THROW(restore_result(bytes.substr(0, at)), DataError) << at;
  }
}

TEST(StoredResult, IsNotReadIfItsPartsDoNotFitTogether) {
  const auto broken = [](const auto& damage) {
    SampleResult result = short_run();
    damage(result);
    EXPECT_THROW(restore_result(archive_result(result)), DataError);
  };
  broken([](SampleResult& r) { r.chains.clear(); });
  broken([](SampleResult& r) { r.names.pop_back(); });
  broken([](SampleResult& r) { r.coordinates.pop_back(); });
  broken([](SampleResult& r) { r.quantities.resize(2); });
  broken([](SampleResult& r) { r.quantities = {{"a", 3}, {"b"}, {"c"}}; });
  broken([](SampleResult& r) { r.stored_chains.resize(1); });
  broken([](SampleResult& r) { r.chains[1].record.kept.pop_back(); });
  broken([](SampleResult& r) { r.chains[1].tuning = {1, make_unit_metric(2)}; });
  broken([](SampleResult& r) { r.chains[1].tuning.metric = nullptr; });
  broken([](SampleResult& r) {
    r.chains[0].record.kept_end.clear();
    r.chains[0].record.kept_weight.clear();
  });
}

}  // namespace
}  // namespace rehmc::stored_result_test
