// The study of sharpened estimates: errors of ordinary runs, and their sums.
#include "experiments/sharpening.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "experiments/csv.hpp"
#include "models/cox_process.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"
#include "tests/experiments/small_case.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments::sharpening_test {
namespace {

using rehmc::testing::Folder;
using testing::small_case;
using testing::small_workshop;

struct Prepared {
  explicit Prepared(const Workshop& workshop)
      : test_case(small_case()),
        preparation(prepare(workshop, test_case)),
        truth(find_truth(workshop, test_case, preparation)) {}
  SharpeningStudy run(const Workshop& workshop) const {
    return run_sharpening(workshop, test_case, preparation, truth);
  }
  TestCase test_case;
  Preparation preparation;
  Truth truth;
};

std::string bytes_of(const SharpeningStudy& study) {
  ArchiveWriter archive;
  archive(study.runs);
  return archive.bytes();
}

TEST(SharpeningStudy, RunsAreThoseOfUsers) {
  const Folder folder;
  const Workshop workshop = small_workshop(folder, 2);
  const Prepared prepared(workshop);
  const SharpeningStudy study = prepared.run(workshop);
  ASSERT_EQ(study.runs.size(), 4U);

  SampleSettings settings;
  settings.seed = workshop.seed_of("gaussian sharpening 2");
  settings.warmup.iterations = 0;
  settings.warmup.metric = MetricKind::unit;
  settings.warmup.step_size = step_size(prepared.preparation, KernelKind::nuts);
  for (std::uint32_t chain = 8; chain < 12; ++chain) {
    settings.start.push_back(
        starting_position(prepared.test_case, prepared.truth, {*settings.seed, chain, 0}));
  }
  const SampleResult result = sample(prepared.test_case.density, settings);
  std::vector<ParameterSummary> rows = summarise(result);
  sharpen_run(result, rows);
  const auto& errors = study.runs[2].errors;
  const double sds[] = {0.5, 1, 2};
  for (std::size_t i = 0; i < 3; ++i) {
    const double upper = rows[i].recycled->quantiles.back().value;
    const double true_upper = prepared.truth.value[2][i];
    EXPECT_EQ(errors[0][0][i], static_cast<float>(rows[i].plain.mean / sds[i]));
    EXPECT_EQ(errors[1][1][i], static_cast<float>((rows[i].recycled->sd - sds[i]) / sds[i]));
    EXPECT_EQ(errors[1][2][i], static_cast<float>((upper - true_upper) / sds[i]));
    EXPECT_EQ(errors[2][0][i], static_cast<float>(rows[i].sharpened->estimate.mean / sds[i]));
  }
  EXPECT_EQ(study.refused(), 0);
  // For a normal sharpened estimates are exact up to rounding, 2^20 times smaller than chance.
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_GT(study.mean_log2(s, Estimator::sharpened).value, 20);
  }
}

TEST(SharpeningStudy, SameBitsForAnyThreadsAndAfterAnInterruption) {
  const Folder one;
  const Folder interrupted;
  const Prepared prepared(small_workshop(one, 1));
  const std::string whole = bytes_of(prepared.run(small_workshop(one, 1)));

  Workshop workshop = small_workshop(interrupted, 2);
  std::atomic<int> stop = 0;
  std::size_t pieces = 0;
  workshop.stop = &stop;
  workshop.finished = [&](const std::string&) {
    ++pieces;
    stop = 1;
  };
  EXPECT_THROW(prepared.run(workshop), Stopped);
  EXPECT_GE(pieces, 1U);
  EXPECT_LT(pieces, 4U);
  stop = 0;
  workshop.finished = [&](const std::string&) { ++pieces; };
  EXPECT_EQ(bytes_of(prepared.run(workshop)), whole);
  EXPECT_EQ(pieces, 4U);
}

/// Four runs with these errors of one parameter, for all statistics.
SharpeningStudy study_of(const std::vector<float>& plain, const std::vector<float>& sharpened,
                         float truth_error) {
  SharpeningStudy study{CaseName::cox, {}, {}};
  for (auto& errors : study.truth_error) errors = {truth_error};
  for (std::size_t r = 0; r < plain.size(); ++r) {
    SharpeningRun run;
    for (auto& errors : run.errors[0]) errors = {plain[r]};
    for (auto& errors : run.errors[1]) errors = {plain[r]};
    for (auto& errors : run.errors[2]) errors = {sharpened[r]};
    study.runs.push_back(run);
  }
  return study;
}

TEST(SharpeningStudy, ErrorsOfTheTruthAreNotCountedButBiasIs) {
  // Variances 16/3 and 4/3, no bias.
  EXPECT_NEAR(study_of({2, -2, 2, -2}, {1, -1, 1, -1}, 0).mean_log2(0, Estimator::sharpened).value,
              2, 1e-6);
  // All are off by the same 1.5, within three errors of the truth: no bias is detected.
  const std::vector<float> off{2.5F, 0.5F, 2.5F, 0.5F};
  EXPECT_NEAR(study_of({2, -2, 2, -2}, off, 1).mean_log2(0, Estimator::sharpened).value, 2, 1e-6);
  // But if the truth is exact and they are off by 7: 4/3 + 49 - 1/3.
  const std::vector<float> biased{8, 6, 8, 6};
  EXPECT_NEAR(study_of({2, -2, 2, -2}, biased, 0).mean_log2(0, Estimator::sharpened).value,
              std::log2(16.0 / 3 / 50), 1e-6);
}

TEST(SharpeningStudy, WritesItsTables) {
  SharpeningStudy study = study_of({2, -2, 2, -2}, {1, -1, 1, -1}, 0);
  study.runs[0].refused = 1;
  const Folder folder;
  write_sharpening({&study, 1}, folder.path());
  const Table all = Table::read(folder / "sharpening.csv");
  ASSERT_EQ(all.rows(), 3U);
  EXPECT_EQ(all.text(1, "case"), "cox");
  EXPECT_EQ(all.text(1, "statistic"), "sd");
  EXPECT_NEAR(all.number(1, "recycled_gain"), 1, 1e-5);
  EXPECT_NEAR(all.number(1, "sharpened_gain"), 4, 1e-5);
  EXPECT_EQ(all.number(1, "runs"), 4);
  EXPECT_EQ(all.number(1, "refused"), 0.25);
  const Table by_parameter = Table::read(folder / "sharpening-cox.csv");
  EXPECT_NEAR(by_parameter.number(0, "q97.5_sharpened"), 2, 1e-6);
}

TEST(SharpeningStudy, ReadsACoxProcessInItsOwnCoordinates) {
  // The Stein check of the library, with 1e-3 false alarms, finds gradients that do not belong to
  // the positions; so does a control with the gradients of other data.
  const TestCase test_case = make_test_case(CaseName::cox, "", 6);
  SampleSettings settings;
  settings.seed = 5;
  const SampleResult sampled = sample(test_case.density, settings);
  const Workshop workshop;
  SampleResult read = sampled;
  const std::optional<Density> as_read = density_as_read(test_case);
  ASSERT_TRUE(as_read.has_value());
  EXPECT_EQ(as_read->names(), names_of(test_case.density.quantities()));
  read_as_coordinates(workshop, *as_read, read);
  std::vector<ParameterSummary> rows = summarise(read);
  EXPECT_TRUE(sharpen_run(read, rows).check->passed());
  for (const ParameterSummary& row : rows) {
    ASSERT_TRUE(row.sharpened.has_value());
    EXPECT_NE(row.sharpened->mean_set, FeatureSet::none);
  }

  CoxSettings settings_of_case;
  settings_of_case.size = 6;
  const auto others = simulate_cox_counts(settings_of_case, 2);
  SampleResult wrong = sampled;
  read_as_coordinates(workshop, CoxProcess(settings_of_case, others), wrong);
  EXPECT_FALSE(sharpen_run(wrong, rows).check->passed());
}

}  // namespace
}  // namespace rehmc::experiments::sharpening_test
