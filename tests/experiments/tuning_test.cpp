// The tuning experiment: recycled states give the better metric, and an interrupted run resumes.
#include "experiments/tuning.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/csv.hpp"
#include "models/correlated_normal.hpp"
#include "rehmc/adapt/metric_estimate.hpp"
#include "rehmc/adapt/warmup.hpp"
#include "tests/experiments/small_case.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments::tuning_test {
namespace {

using rehmc::testing::Folder;
using testing::small_case;

/// Covariance of a 3-d normal, row by row.
const std::vector<double> covariance{2, 0.9, 0, 0.9, 1, -0.3, 0, -0.3, 0.5};

/// What M^{-1} estimates, after the shrinkage for this many draws.
std::vector<double> shrunken(double draws) {
  std::vector<double> entries = covariance;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = draws / (draws + 5) * entries[i] + (i % 4 == 0 ? 5 / (draws + 5) * 1e-3 : 0);
  }
  return entries;
}

TEST(Tuning, BothMetricsEstimateTheCovarianceAndTheRecycledOneBetter) {
  const Workshop workshop;
  const Density density = CorrelatedNormal(covariance);
  constexpr std::uint32_t chains = 100;
  const std::vector<double> start{0.5, 0.1, -0.2};
  const std::size_t lengths[] = {400};
  const std::vector<double> truth = shrunken(400);
  const std::size_t entries = truth.size();
  std::array<std::vector<double>, tuning_arms> sums;
  std::array<std::vector<double>, tuning_arms> squares;
  sums.fill(std::vector<double>(entries));
  squares.fill(std::vector<double>(entries));
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    adapt_metrics(workshop, density, start, {17, chain, 0}, lengths,
                  [&](std::size_t, const TunedMetrics& tuned) {
                    for (std::size_t arm = 0; arm < tuning_arms; ++arm) {
                      const std::vector<double> found = tuned.metrics[arm]->numbers();
                      for (std::size_t i = 0; i < entries; ++i) {
                        const double error = found[i] - truth[i];
                        sums[arm][i] += error;
                        squares[arm][i] += error * error;
                      }
                    }
                  });
  }
  std::array<double, tuning_arms> totals{};
  for (std::size_t arm = 0; arm < tuning_arms; ++arm) {
    for (std::size_t i = 0; i < entries; ++i) {
      // 12 different entries, 5 standard errors: a false alarm in 1e5. That chains are
      // autocorrelated takes at most a standard error of it.
      const double error = std::sqrt(squares[arm][i]);
      EXPECT_LT(std::abs(sums[arm][i]), 5 * error) << "arm " << arm << ", entry " << i;
      totals[arm] += squares[arm][i];
    }
  }
  // A fifth less, five times its own standard error: a false alarm in 1e6.
  EXPECT_LT(totals[1], totals[0]);
  // Independent draws would give (|Sigma|^2 + (tr Sigma)^2) / 400; these are worth a third of them.
  EXPECT_LT(totals[0] / chains, 10 * 19.3 / 400);
}

TEST(Tuning, ShorterAdaptationsArePartsOfLongerOnes) {
  const Workshop workshop;
  const Density density = CorrelatedNormal(covariance);
  const std::vector<double> start{0.5, 0.1, -0.2};
  const auto metrics = [&](const std::vector<std::size_t>& lengths) {
    std::vector<std::vector<double>> numbers;
    adapt_metrics(workshop, density, start, {3, 0, 0}, lengths,
                  [&](std::size_t, const TunedMetrics& tuned) {
                    for (const auto& metric : tuned.metrics) numbers.push_back(metric->numbers());
                    numbers.push_back(tuned.position);
                  });
    return numbers;
  };
  const auto both = metrics({50, 80});
  const auto shorter = metrics({50});
  const auto longer = metrics({80});
  EXPECT_EQ(both.size(), 6U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(both[k], shorter[k]);
    EXPECT_EQ(both[3 + k], longer[k]);
  }
  EXPECT_NE(both[0], both[1]);  // plain and recycled are two estimates
}

TEST(Tuning, PlainMetricIsThatOfTheChainsOwnDraws) {
  // The same chain by hand: 50 iterations of dual averaging, then fixed; the library's own
  // estimate.
  const Workshop workshop;
  const Density density = CorrelatedNormal(covariance);
  const std::vector<double> start{0.5, 0.1, -0.2};
  const Address address{5, 2, 0};
  const std::size_t lengths[] = {60};
  std::vector<double> found;
  adapt_metrics(workshop, density, start, address, lengths,
                [&](std::size_t, const TunedMetrics& t) { found = t.metrics[0]->numbers(); });

  KernelSettings settings;
  settings.kind = KernelKind::nuts_slice;
  auto kernel = make_kernel(density, settings);
  kernel->set_position(start);
  WarmupSettings warmup_settings;
  warmup_settings.iterations = 50;
  warmup_settings.metric = MetricKind::unit;
  warmup_settings.adapt_step_size.target_acceptance = 0.7;
  Warmup warmup(std::move(kernel), warmup_settings, address);
  while (!warmup.done()) warmup.step();
  FrozenKernel frozen = std::move(warmup).finish();
  MetricEstimate estimate(MetricKind::dense, MetricSource::draws, frozen.state().position);
  for (std::uint64_t n = 50; n < 110; ++n) {
    estimate.add(frozen.transition({address.seed, address.chain, n}));
  }
  EXPECT_EQ(found, estimate.metric()->numbers());
}

std::string bytes_of(const TuningStudy& study) {
  ArchiveWriter archive;
  archive(study.lengths, study.groups);
  return archive.bytes();
}

TEST(Tuning, SameBitsForAnyThreadsAndAfterAnInterruption) {
  const TestCase test_case = small_case();
  const auto run = [&](const Folder& folder, std::size_t threads, const std::atomic<int>* stop,
                       const std::function<void(const std::string&)>& finished) {
    Workshop workshop = testing::small_workshop(folder, threads);
    workshop.stop = stop;
    workshop.finished = finished;
    const Preparation preparation = prepare(workshop, test_case);
    return run_tuning(workshop, test_case, preparation,
                      find_truth(workshop, test_case, preparation));
  };
  const auto nobody = [](const std::string&) {};
  const Folder one;
  const Folder two;
  const Folder interrupted;
  const std::string whole = bytes_of(run(one, 1, nullptr, nobody));
  EXPECT_EQ(bytes_of(run(two, 2, nullptr, nobody)), whole);

  std::atomic<int> stop = 0;
  std::size_t pieces = 0;
  const auto stop_after_three = [&](const std::string&) { stop = ++pieces >= 3 ? 1 : 0; };
  EXPECT_THROW(run(interrupted, 2, &stop, stop_after_three), Stopped);
  EXPECT_GE(pieces, 3U);
  std::size_t more = 0;
  EXPECT_EQ(bytes_of(run(interrupted, 2, nullptr, [&](const std::string&) { ++more; })), whole);
  EXPECT_EQ(pieces + more, 5U);  // nothing was run twice
}

TEST(Tuning, WritesItsTables) {
  TuningStudy study{CaseName::gaussian, {400}, {}};
  for (int g = 0; g < 4; ++g) {
    // Plain errors are 4 and 2 times as large: log2 ratios 2 and 1 for every statistic.
    TuningGroup group{1, std::vector<TuningErrors>(1)};
    for (std::size_t s = 0; s < statistics; ++s) {
      const auto f = static_cast<float>(g + 1);
      group.lengths[0].squares[0][s] = {4 * f, 2 * f};
      group.lengths[0].squares[1][s] = {f, f};
    }
    study.groups.push_back(group);
  }
  const Folder folder;
  write_tuning({&study, 1}, folder / "");
  const Table all = Table::read(folder / "tuning.csv");
  ASSERT_EQ(all.rows(), 3U);
  EXPECT_EQ(all.text(0, "case"), "gaussian");
  EXPECT_EQ(all.number(1, "adapt"), 400);
  EXPECT_EQ(all.text(2, "statistic"), "q97.5");
  EXPECT_DOUBLE_EQ(all.number(1, "log2"), 1.5);
  EXPECT_NEAR(all.number(1, "log2_error"), 0, 1e-7);
  const Table by_parameter = Table::read(folder / "tuning-gaussian-400.csv");
  ASSERT_EQ(by_parameter.rows(), 2U);
  EXPECT_DOUBLE_EQ(by_parameter.number(0, "variance_log2"), 2);
  EXPECT_DOUBLE_EQ(by_parameter.number(1, "mean_log2"), 1);
}

}  // namespace
}  // namespace rehmc::experiments::tuning_test
