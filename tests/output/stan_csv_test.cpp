// Stan CSV: what is written, that it comes back to the bit, and what other samplers' files hold.
#include "rehmc/output/stan_csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/output/stan_csv_reader.hpp"
#include "tests/output/records.hpp"
#include "tests/output/text_files.hpp"

namespace rehmc::stan_csv_test {
namespace {

using testing::data_file;
using testing::TextFiles;
using Paths = std::vector<std::filesystem::path>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A record of draws that are easy to recognise and hard to print.
ChainRecord some_draws(std::size_t draws, double offset) {
  ChainRecord record = testing::empty_record(2, draws);
  for (std::size_t i = 0; i < draws; ++i) {
    const double t = offset + static_cast<double>(i);
    const std::vector<double> position{std::sin(t) * 1e-300, std::exp(50 * std::cos(t))};
    Transition transition;
    transition.state.position = position;
    transition.state.log_density = -t / 3;
    transition.acceptance = 1 / (1 + t);
    transition.step_size = 0.1;
    transition.energy = t / 7;
    transition.energy_error = -t / 11;
    transition.path_length = 0.7;
    transition.mass = 1 + t;
    transition.depth = 3;
    transition.leapfrogs = 7;
    transition.ending = i % 3 == 1   ? Ending::diverged
                        : i % 3 == 2 ? Ending::depth_limit
                                     : Ending::turned;
    record.add_draw(transition, transition.state.position);
  }
  return record;
}

StanCsvInfo some_info() {
  StanCsvInfo info{
      .model = "pair", .version = "1.2.3", .start_datetime = "2025-01-02 03:04:05 UTC"};
  info.chain = 2;
  info.chains = 4;
  info.seed = 18446744073709551615U;
  info.draws = 9;
  info.save_warmup = true;
  info.warmup.iterations = 4;
  info.warmup.schedule = WarmupSchedule::stan;
  info.kernel.nuts.max_depth = 3;
  return info;
}

Tuning diagonal_tuning() {
  return {0.1 + 0.2, make_diagonal_metric(std::vector<double>{1.0 / 3, 1e-7})};
}

std::string whole_file(const StanCsvInfo& info, const ChainRecord& warmup,
                       const ChainRecord& record) {
  std::string text = stan_csv_head(info, {"mu", "theta.1"}).text;
  for (std::size_t i = 0; i < warmup.size(); ++i) append_stan_row(text, testing::DrawOf(warmup, i));
  text += stan_adaptation(info, diagonal_tuning());
  for (std::size_t i = 0; i < record.size(); ++i) append_stan_row(text, testing::DrawOf(record, i));
  return text + stan_timing(0.25, 1.5);
}

TEST(StanCsv, WhatIsWrittenComesBackToTheBit) {
  const TextFiles files;
  const ChainRecord warmup = some_draws(4, 0.5);
  const ChainRecord record = some_draws(9, 100.25);
  const auto path = files.write("chain-1.csv", whole_file(some_info(), warmup, record));

  const SampleResult result = read_stan_csv(Paths{path, path});

  EXPECT_EQ(result.names, (std::vector<std::string>{"mu", "theta.1"}));
  EXPECT_EQ(result.seed, some_info().seed);
  EXPECT_EQ(result.kernel.kind, KernelKind::nuts);
  EXPECT_EQ(result.kernel.recycling.kind, RecyclingKind::none);
  EXPECT_EQ(result.kernel.nuts.max_depth, 3);
  ASSERT_EQ(result.chains.size(), 2U);
  for (const ChainResult& chain : result.chains) {
    testing::expect_same_draws(chain.record, record);
    testing::expect_same_draws(chain.warmup, warmup);
    EXPECT_EQ(chain.tuning.step_size, 0.1 + 0.2);
    ASSERT_TRUE(chain.tuning.metric);
    EXPECT_EQ(chain.tuning.metric->numbers(), diagonal_tuning().metric->numbers());
    EXPECT_EQ(chain.seconds_warmup, 0.25);
    EXPECT_EQ(chain.seconds_sampling, 1.5);
    EXPECT_EQ(chain.gradients_sampling, 63U);
    EXPECT_EQ(chain.gradients_warmup, 28U);
    EXPECT_EQ(chain.divergences_warmup, 1U);
  }
}

TEST(StanCsv, KernelsAreDistinguished) {
  const TextFiles files;
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice, KernelKind::hmc}) {
    StanCsvInfo info = some_info();
    info.kernel.kind = kind;
    const auto path = files.write("chain.csv", whole_file(info, {}, some_draws(3, 1)));
    EXPECT_EQ(read_stan_csv(Paths{path}).kernel.kind, kind);
  }
}

TEST(StanCsv, HeadHoldsAllSevenColumnsThenOurs) {
  const std::string text = stan_csv_head(some_info(), {"mu", "theta.1"}).text;
  EXPECT_TRUE(text.ends_with(
      "\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,int_time__,"
      "energy_error__,n_recycled__,max_depth_hit__,mass__,mu,theta.1\n"))
      << text;
  for (const char* line : {"# model = pair_model\n", "#     num_warmup = 4\n", "# id = 2\n",
                           "#     save_warmup = 1\n", "#         metric = diag_e\n",
                           "#             max_depth = 3\n", "#   seed = 18446744073709551615\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(StanCsv, NumberOfDrawsCanBePatchedInPlace) {
  StanCsvHead head = stan_csv_head(some_info(), {"mu"});
  EXPECT_EQ(head.text.substr(head.num_samples_at, 2), "9 ");
  const std::string field =
      num_samples_field(std::numeric_limits<std::uint64_t>::max(), head.num_samples_width);
  EXPECT_EQ(field.size(), head.num_samples_width);
  const std::size_t size = head.text.size();
  head.text.replace(head.num_samples_at, head.num_samples_width, field);
  EXPECT_EQ(head.text.size(), size);
  EXPECT_NE(head.text.find("#     num_samples = 18446744073709551615\n"), std::string::npos);
  EXPECT_EQ(num_samples_field(12, 5), "12   ");
}

TEST(StanCsv, RowsHoldIntegersAsIntegersAndNoOddSpellings) {
  ChainRecord record = some_draws(2, 3);
  record.draws = {-nan, -infinity, infinity, 1e22};
  record.log_density = {-0.5, 3};
  std::string text;
  append_stan_row(text, testing::DrawOf(record, 0));
  append_stan_row(text, testing::DrawOf(record, 1));
  EXPECT_EQ(text,
            "-0.5,0.25,0.1,3,7,0,0.42857142857142855,0.7,-0.2727272727272727,0,0,4,nan,-inf\n"
            "3,0.2,0.1,3,7,1,0.5714285714285714,0.7,-0.36363636363636365,0,0,5,inf,1e+22\n");
}

TEST(StanCsv, RowsCountWhatWasKept) {
  ChainRecord record = some_draws(2, 3);
  record.kept_end = {3, 8};
  record.kept_weight.assign(8, 0.2);
  record.kept.assign(8 * record.dimension(), 0.0);
  std::string text;
  append_stan_row(text, testing::DrawOf(record, 1));
  EXPECT_NE(text.find(",-0.36363636363636365,5,0,5,"), std::string::npos) << text;
}

TEST(StanCsv, LineBreaksInNamesDoNotEndAComment) {
  StanCsvInfo info = some_info();
  info.data_file = "a\nlp__,b";
  const std::string text = stan_csv_head(info, {"mu"}).text;
  EXPECT_NE(text.find("#   file = a?lp__,b\n"), std::string::npos);
}

TEST(StanCsv, MetricIsWrittenInTheFormTheHeadAnnounced) {
  const std::vector<double> matrix{2, 0.5, 0.5, 1};
  StanCsvInfo info = some_info();
  const Tuning unit{0.5, make_unit_metric(2)};
  EXPECT_EQ(stan_adaptation(info, unit),
            "# Adaptation terminated\n# Step size = 0.5\n"
            "# Diagonal elements of inverse mass matrix:\n# 1, 1\n");

  info.warmup.initial_metric = make_dense_metric(2, matrix);  // what a short warmup would keep
  EXPECT_NE(stan_csv_head(info, {"a", "b"}).text.find("metric = dense_e\n"), std::string::npos);
  EXPECT_EQ(stan_adaptation(info, {0.5, info.warmup.initial_metric}),
            "# Adaptation terminated\n# Step size = 0.5\n"
            "# Elements of inverse mass matrix:\n# 2, 0.5\n# 0.5, 1\n");
  EXPECT_EQ(stan_adaptation(info, unit),
            "# Adaptation terminated\n# Step size = 0.5\n"
            "# Elements of inverse mass matrix:\n# 1, 0\n# 0, 1\n");

  info.warmup.initial_metric = nullptr;
  info.warmup.metric = MetricKind::unit;
  EXPECT_NE(stan_csv_head(info, {"a", "b"}).text.find("metric = unit_e\n"), std::string::npos);
  EXPECT_EQ(stan_adaptation(info, unit),
            "# Adaptation terminated\n# Step size = 0.5\n# No free parameters for unit metric\n");
}

TEST(StanCsv, ReadsCurrentCmdstan) {
  const SampleResult result = read_stan_csv(Paths{data_file("cmdstan-2.36-nuts.csv")});
  EXPECT_EQ(result.names, (std::vector<std::string>{"mu", "theta.1", "theta.2"}));
  EXPECT_EQ(result.seed, 20250304U);
  EXPECT_EQ(result.kernel.nuts.max_depth, 3);
  const ChainResult& chain = result.chains.front();
  EXPECT_EQ(chain.warmup.size(), 3U);
  EXPECT_EQ(chain.warmup.draw(2)[1], -1.75);
  EXPECT_EQ(chain.divergences_warmup, 1U);
  EXPECT_EQ(chain.gradients_warmup, 7U);
  ASSERT_EQ(chain.record.size(), 4U);
  EXPECT_EQ(chain.record.log_density, (std::vector<double>{-7.5, -7.25, -7.125, -7}));
  EXPECT_EQ(chain.record.energy[1], 9.25);
  EXPECT_EQ(chain.record.draw(1)[1], 1e-5);
  EXPECT_TRUE(std::isnan(chain.record.draw(1)[2]));
  EXPECT_EQ(chain.record.draw(2)[1], -infinity);
  EXPECT_EQ(chain.record.ending,
            (std::vector{Ending::turned, Ending::depth_limit, Ending::diverged, Ending::turned}));
  EXPECT_EQ(chain.record.path_length[1], 7 * 0.8125);
  EXPECT_EQ(chain.tuning.step_size, 0.8125);
  EXPECT_EQ(chain.tuning.metric->numbers(), (std::vector<double>{0.5, 1.25, 2}));
  EXPECT_EQ(chain.seconds_warmup, 0.007);
  EXPECT_EQ(chain.seconds_sampling, 0.017);
  EXPECT_TRUE(chain.record.kept_end.empty());
}

TEST(StanCsv, ReadsOldStaticHmcWithDenseMetric) {
  const SampleResult result = read_stan_csv(Paths{data_file("cmdstan-2.18-static-dense.csv")});
  EXPECT_EQ(result.kernel.kind, KernelKind::hmc);
  EXPECT_EQ(result.kernel.hmc.path_length, 2.5);
  const ChainResult& chain = result.chains.front();
  EXPECT_EQ(chain.record.draws, (std::vector<double>{0.25, -0.75, 0.5, -0.5}));
  EXPECT_EQ(chain.record.leapfrogs, (std::vector<std::uint32_t>{3, 3}));
  EXPECT_EQ(chain.record.path_length, (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(chain.record.ending, (std::vector{Ending::completed, Ending::completed}));
  EXPECT_EQ(chain.tuning.metric->kind(), MetricKind::dense);
  EXPECT_EQ(chain.tuning.metric->numbers(), (std::vector<double>{2, 0.5, 0.5, 1}));
  EXPECT_EQ(chain.seconds_sampling, 1.25);
  EXPECT_EQ(chain.warmup.size(), 0U);
}

TEST(StanCsv, ReadsRstan) {
  const SampleResult result = read_stan_csv(Paths{data_file("rstan-sample-file.csv")});
  EXPECT_EQ(result.seed, 1234U);
  const ChainResult& chain = result.chains.front();
  EXPECT_EQ(chain.warmup.size(), 2U);
  EXPECT_EQ(chain.record.draws, (std::vector<double>{1, 1, 1.25, 0.75}));
  EXPECT_EQ(chain.tuning.step_size, 0.375);
}

TEST(StanCsv, WithoutAdaptationTheSettingsShowWhereWarmupEnds) {
  const SampleResult result = read_stan_csv(Paths{data_file("cmdstan-fixed-param.csv")});
  const ChainResult& chain = result.chains.front();
  EXPECT_EQ(chain.warmup.draws, (std::vector<double>{0.5, 1, 1.5, 2}));
  EXPECT_EQ(chain.record.draws, (std::vector<double>{2.5, 3, 3.5, 4}));
  EXPECT_EQ(chain.record.size(), 2U);
  EXPECT_TRUE(std::isnan(chain.record.energy[0]));
  EXPECT_EQ(chain.record.ending[0], Ending::completed);
}

TEST(StanCsv, ColumnsMayComeInAnyOrderAndLinesMayEndAsOnWindows) {
  const TextFiles files;
  const auto path = files.write("odd.csv", "mu,energy__,strange__,lp__\r\n1,2,3,4\r\n5,6,7,8\r\n");
  const SampleResult result = read_stan_csv(Paths{path});
  EXPECT_EQ(result.names, std::vector<std::string>{"mu"});
  EXPECT_EQ(result.chains[0].record.draws, (std::vector<double>{1, 5}));
  EXPECT_EQ(result.chains[0].record.energy, (std::vector<double>{2, 6}));
  EXPECT_EQ(result.chains[0].record.log_density, (std::vector<double>{4, 8}));
}

struct BadFile {
  std::string text;
  std::vector<std::string> said;  ///< parts of the message
};

TEST(StanCsv, BadFilesAreNamedWithLineAndColumn) {
  const std::string head = "# method = sample\nlp__,divergent__,mu\n";
  const std::vector<BadFile> cases{
      {"", {"empty"}},
      {"\n\n", {"only comments", "lp__"}},
      {"# a = 1\n", {"only comments"}},
      {"{\"a\": 1}\n", {"line 1", "{\"a\": 1}", "lp__"}},
      {"\x7f"
       "ELF\x01\x02\n",
       {"line 1", "?ELF??"}},
      {"a,b\n1,2\n", {"line 1", "'a,b'", "lp__"}},
      {"lp__,energy__\n1,2\n", {"line 1", "parameters"}},
      {"lp__,mu,mu\n1,2,3\n", {"line 1", "'mu'", "twice"}},
      {"lp__,,mu\n1,2,3\n", {"line 1", "column 2", "no name"}},
      {"# method = optimize\nlp__,mu\n1,2\n", {"method = optimize", "sample"}},
      {head, {"no draws"}},
      {head + "1,0,2\n1,0\n", {"line 4", "found 2 columns", "expected 3", "cut short"}},
      {head + "1,0,2\n1,0,3,4\n", {"line 4", "found 4 columns", "expected 3"}},
      {head + "1,0,2\n1,0,x7\n", {"line 4", "column 3 (mu)", "'x7'", "a number"}},
      {head + "1,0,2\n1,0,\n", {"line 4", "column 3 (mu)", "''", "a number"}},
      {head + "1,0,2 3\n", {"line 3", "column 3 (mu)", "'2 3'"}},
      {head + "1,0,2\n1,0,3", {"line 4", "ends within this line", "cut short"}},
      {head + "1,0,2\n1,", {"line 4", "ends within this line"}},
      {head + "1,2,2\n", {"line 3", "column 2 (divergent__)", "found 2", "0 to 1"}},
      {head + "1,nan,2\n", {"line 3", "column 2 (divergent__)", "found nan"}},
      {head + "# Adaptation terminated\n# Step size = huge\n", {"line 4", "'huge'", "positive"}},
      {head + "# Adaptation terminated\n# Step size = 1\n# Diagonal elements of inverse mass "
              "matrix:\n# 1, b\n",
       {"line 6", "'b'", "a number"}},
      {head + "# Adaptation terminated\n# Elements of inverse mass matrix:\n# 1, 0\n# 1\n",
       {"line 6", "row of 1", "expected 2"}},
      {head + "# Adaptation terminated\n# Elements of inverse mass matrix:\n# 1, 2\n# 2, 1\n",
       {"line 6", "positive definite"}},
      {head + "1,0,2\n# Adaptation terminated\n", {"no draws after warmup"}},
      {"# Adaptation terminated\n" + head, {"line 1", "column names first"}},
  };
  const TextFiles files;
  for (const BadFile& bad : cases) {
    const auto path = files.write("bad.csv", bad.text);
    testing::expect_data_error([&] { read_stan_csv(Paths{path}); }, path.string(), bad.said);
  }
}

TEST(StanCsv, FilesMustFitTogether) {
  const TextFiles files;
  const auto first = files.write("first.csv", "lp__,mu,tau\n1,2,3\n");
  const auto renamed = files.write("renamed.csv", "lp__,mu,sigma\n1,2,3\n");
  const auto narrow = files.write("narrow.csv", "lp__,mu\n1,2\n");
  const auto longer = files.write("longer.csv", "lp__,mu,tau\n1,2,3\n4,5,6\n");
  const auto read = [&](const auto& second) {
    return [&first, &second] { read_stan_csv(Paths{first, first, second}); };
  };
  testing::expect_data_error(read(renamed), renamed.string(),
                             {"column 3", "'sigma'", "'tau'", first.string()});
  testing::expect_data_error(read(narrow), narrow.string(), {"found 2 columns", "expected 3"});
  testing::expect_data_error(read(longer), longer.string(), {"found 2 draws", "expected 1"});
  EXPECT_THROW(read_stan_csv(Paths{}), DataError);
}

TEST(StanCsv, FilesThatDoNotExist) {
  const TextFiles files;
  for (const auto& path : {files.folder(), files.folder() / "none.csv"}) {
    try {
      read_stan_csv(Paths{path});
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::no_input);
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace rehmc::stan_csv_test
