// Metric files: CmdStan's JSON written and read back, and errors for bad files.
#include "rehmc/output/metric_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/output/text_files.hpp"

namespace rehmc::metric_file_test {
namespace {

using testing::TextFiles;

TEST(MetricFile, WritesCmdstansJson) {
  EXPECT_EQ(metric_json({0.1 + 0.2, make_diagonal_metric(std::vector<double>{1.0 / 3})}),
            "{\"stepsize\":0.30000000000000004,\"metric_type\":\"diag_e\","
            "\"inv_metric\":[0.3333333333333333]}\n");
  EXPECT_EQ(metric_json({1, make_unit_metric(2)}),
            "{\"stepsize\":1,\"metric_type\":\"unit_e\",\"inv_metric\":[1,1]}\n");
  EXPECT_EQ(metric_json({1, make_dense_metric(2, std::vector<double>{2, 0.5, 0.5, 1})}),
            "{\"stepsize\":1,\"metric_type\":\"dense_e\",\"inv_metric\":[[2,0.5],[0.5,1]]}\n");
}

TEST(MetricFile, ComesBackToTheBit) {
  const TextFiles files;
  const std::vector<double> diagonal{1.0 / 3, 1e-300, 1e22};
  std::vector<double> dense{2.0 / 3, 0.1, 0.01, 0.1, 1.0 / 7, 0, 0.01, 0, 3};
  for (const auto& metric :
       {make_unit_metric(3), make_diagonal_metric(diagonal), make_dense_metric(3, dense)}) {
    const auto back = read_metric_file(files.write("metric.json", metric_json({1, metric})), 3);
    EXPECT_EQ(back->kind(), metric->kind());
    EXPECT_EQ(back->numbers(), metric->numbers());
  }
}

TEST(MetricFile, MayHaveAStepSize) {
  const TextFiles files;
  const auto read = [&](const std::string& text) {
    return read_metric_step_size(files.write("step.json", text), 1);
  };
  EXPECT_EQ(read(metric_json({1.0 / 3, make_unit_metric(1)})), 1.0 / 3);
  EXPECT_EQ(read("{\"inv_metric\": [1]}"), std::nullopt);
  for (const char* bad : {"0", "-1", "\"a\"", "null"}) {
    const std::string text = std::string("{\"inv_metric\": [1], \"stepsize\": ") + bad + "}";
    const auto path = files.write("step.json", text);
    testing::expect_data_error([&] { read_metric_step_size(path, 1); }, path.string(),
                               {"stepsize"});
  }
}

TEST(MetricFile, LowRankIsWrittenAsDense) {
  // S (I + U (Lambda - I) U') S with S = diag(2, 1), U = (0.6, 0.8), Lambda = 6.
  const auto metric = make_low_rank_metric({{2, 1}, {0.6, 0.8}, {6}});
  const TextFiles files;
  const auto back = read_metric_file(files.write("metric.json", metric_json({1, metric})), 2);
  EXPECT_EQ(back->kind(), MetricKind::dense);
  const std::vector<double> expected{4 * (1 + 5 * 0.36), 2 * 5 * 0.48, 2 * 5 * 0.48, 1 + 5 * 0.64};
  const std::vector<double> found = back->numbers();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-14);
}

TEST(MetricFile, TheTypeMayBeMissing) {
  const TextFiles files;
  EXPECT_EQ(read_metric_file(files.write("a.json", "{\"inv_metric\": [1, 2]}"), 2)->kind(),
            MetricKind::diagonal);
  EXPECT_EQ(
      read_metric_file(files.write("b.json", "{\"inv_metric\": [[1, 0], [0, 2]]}"), 2)->kind(),
      MetricKind::dense);
  EXPECT_EQ(read_metric_file(files.write("c.json", "{\"inv_metric\": [[3]]}"), 1)->numbers(),
            std::vector<double>{3});
}

TEST(MetricFile, BadFilesAreNamedWithKeyAndValue) {
  struct Bad {
    std::string text;
    std::vector<std::string> said;
  };
  const std::vector<Bad> cases{
      {"", {"not JSON"}},
      {"{\"inv_metric\": [1, 2", {"not JSON", "byte 21"}},
      {"[1, 2]", {"inv_metric", "an array of 2"}},
      {"{}", {"inv_metric", "no keys"}},
      {"{\"metric\": [1, 2]}", {"inv_metric", "'metric'"}},
      {"{\"inv_metric\": 3}", {"'inv_metric'", "found 3", "2 variances"}},
      {"{\"inv_metric\": []}", {"'inv_metric'", "found 0 numbers", "expected 2"}},
      {"{\"inv_metric\": [1, 2, 3]}", {"'inv_metric'", "found 3 numbers", "expected 2"}},
      {"{\"inv_metric\": [1, \"two\"]}", {"'inv_metric'", "entry 2", "\"two\"", "a number"}},
      {"{\"inv_metric\": [1, null]}", {"'inv_metric'", "entry 2", "null"}},
      {"{\"inv_metric\": [1, -2]}", {"'inv_metric'", "entry 2", "-2"}},
      {"{\"inv_metric\": [[1, 0]]}", {"'inv_metric'", "found 1 rows", "expected 2"}},
      {"{\"inv_metric\": [[1, 0], [0]]}", {"row 2", "found 1 numbers", "expected 2"}},
      {"{\"inv_metric\": [[1, 0], 7]}", {"row 2", "found 7", "an array"}},
      {"{\"inv_metric\": [[1, 0], [0, true]]}", {"row 2", "entry 2", "true"}},
      {"{\"inv_metric\": [[1, 2], [2, 1]]}", {"'inv_metric'", "positive definite"}},
      {"{\"inv_metric\": [[1, 2], [0, 1]]}", {"'inv_metric'", "not symmetric"}},
      {"{\"metric_type\": \"round\", \"inv_metric\": [1, 2]}", {"'metric_type'", "\"round\""}},
      {"{\"metric_type\": 7, \"inv_metric\": [1, 2]}", {"'metric_type'", "found 7"}},
      {"{\"metric_type\": \"dense_e\", \"inv_metric\": [1, 2]}", {"found numbers", "rows"}},
      {"{\"metric_type\": \"diag_e\", \"inv_metric\": [[1, 0], [0, 1]]}", {"found rows"}},
  };
  const TextFiles files;
  for (const Bad& bad : cases) {
    const auto path = files.write("bad.json", bad.text);
    testing::expect_data_error([&] { read_metric_file(path, 2); }, path.string(), bad.said);
  }
  EXPECT_THROW(read_metric_file(files.folder() / "none.json", 2), Error);
}

}  // namespace
}  // namespace rehmc::metric_file_test
