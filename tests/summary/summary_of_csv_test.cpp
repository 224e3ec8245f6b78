// The summary of draws that went through Stan CSV is the summary of the draws.
#include <gtest/gtest.h>

#include <vector>

#include "models/eight_schools.hpp"
#include "rehmc/output/stan_csv.hpp"
#include "rehmc/output/stan_csv_reader.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/diagnostics.hpp"
#include "rehmc/summary/summary.hpp"
#include "tests/output/records.hpp"
#include "tests/output/text_files.hpp"

namespace rehmc::summary_of_csv_test {
namespace {

TEST(SummaryOfCsv, IsTheSummaryOfTheDraws) {
  SampleSettings settings;
  settings.seed = 3;
  settings.draws = 100;
  settings.chains = 2;
  settings.warmup.iterations = 100;
  const SampleResult result = sample(Density(EightSchoolsNonCentred()), settings);

  const testing::TextFiles files;
  std::vector<std::filesystem::path> paths;
  for (const ChainResult& chain : result.chains) {
    StanCsvInfo info{.model = "schools", .version = "1", .start_datetime = "now"};
    info.warmup = settings.warmup;
    std::string text = stan_csv_head(info, result.names).text + stan_adaptation(info, chain.tuning);
    for (std::size_t i = 0; i < chain.record.size(); ++i) {
      append_stan_row(text, testing::DrawOf(chain.record, i));
    }
    paths.push_back(files.write("chain-" + std::to_string(paths.size()) + ".csv", text));
  }
  const SampleResult read = read_stan_csv(paths);

  const auto expected = summarise(result);
  const auto found = summarise(read);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    EXPECT_EQ(found[p].name, expected[p].name);
    EXPECT_EQ(found[p].plain.mean, expected[p].plain.mean);
    EXPECT_EQ(found[p].plain.mcse_mean, expected[p].plain.mcse_mean);
    EXPECT_EQ(found[p].convergence.rhat, expected[p].convergence.rhat);
    EXPECT_FALSE(found[p].recycled.has_value());
  }
  EXPECT_EQ(diagnose(read, found).ebfmi, diagnose(result, expected).ebfmi);
}

}  // namespace
}  // namespace rehmc::summary_of_csv_test
