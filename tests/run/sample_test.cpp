// Many chains in threads: the same bits on any number of them, whatever is kept, and honest errors.
#include "rehmc/run/sample.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/eight_schools.hpp"
#include "tests/kernel/mechanics.hpp"
#include "tests/run/same_chain.hpp"

namespace rehmc::sample_test {
namespace {

using testing::Bumpy;
using testing::every_kernel;
using testing::expect_same_chain;
using testing::Numbers;
using testing::Walled;

SampleSettings short_run(KernelKind kind, const char* recycling = "spread:4") {
  SampleSettings settings;
  settings.kernel.kind = kind;
  settings.kernel.recycling = parse_recycling(recycling);
  settings.warmup.iterations = 200;
  settings.draws = 60;
  settings.chains = 5;
  settings.threads = 1;
  settings.seed = 31;
  return settings;
}

/// Every chain for itself, with warmup of a known length.
SampleSettings alone(SampleSettings settings) {
  settings.warmup.schedule = WarmupSchedule::stan;
  return settings;
}

TEST(Sample, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    SampleSettings settings = short_run(kind);
    const SampleResult one = sample(Walled(4, 1.5, Fault::exception), settings);
    for (const int threads : {2, 4, 16, 0}) {
      settings.threads = threads;
      const SampleResult many = sample(Walled(4, 1.5, Fault::exception), settings);
      ASSERT_EQ(many.chains.size(), one.chains.size());
      for (std::size_t c = 0; c < one.chains.size(); ++c) {
        expect_same_chain(one.chains[c], many.chains[c]);
        EXPECT_EQ(one.chains[c].record.kept, many.chains[c].record.kept);
        EXPECT_EQ(one.chains[c].record.kept_weight, many.chains[c].record.kept_weight);
        EXPECT_EQ(one.chains[c].record.kept_end, many.chains[c].record.kept_end);
      }
    }
  }
}

TEST(Sample, GivesTheSameChainsWhateverIsKept) {
  for (const KernelKind kind : every_kernel) {
    for (const MetricKind metric : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
      SampleSettings settings = short_run(kind, "none");
      settings.warmup.metric = metric;
      const SampleResult plain = sample(Walled(4, 1.5, Fault::not_a_number), settings);
      for (const Recycling& recycling : testing::every_recycling(kind)) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
        settings.kernel.recycling = recycling;
        const SampleResult other = sample(Walled(4, 1.5, Fault::not_a_number), settings);
        for (std::size_t c = 0; c < plain.chains.size(); ++c) {
          expect_same_chain(plain.chains[c], other.chains[c]);
        }
      }
    }
  }
}

TEST(Sample, SeedsAndChainsDiffer) {
  SampleSettings settings = short_run(KernelKind::nuts);
  std::set<Numbers> runs;
  std::set<Numbers> metrics;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    settings.seed = seed;
    const SampleResult result = sample(Bumpy(4), settings);
    EXPECT_EQ(result.seed, seed);
    for (const ChainResult& chain : result.chains) {
      runs.insert(chain.record.draws);
      metrics.insert(chain.tuning.metric->inverse_diagonal());
    }
  }
  EXPECT_EQ(runs.size(), 15U);
  EXPECT_EQ(metrics.size(), 3U) << "chains of a group share theirs";
}

TEST(Sample, ReportsTheSeedItMade) {
  SampleSettings settings = short_run(KernelKind::nuts);
  settings.seed.reset();
  const SampleResult fresh = sample(Bumpy(4), settings);
  const SampleResult other = sample(Bumpy(4), settings);
  EXPECT_NE(fresh.seed, other.seed);
  settings.seed = fresh.seed;
  const SampleResult again = sample(Bumpy(4), settings);
  for (std::size_t c = 0; c < 5; ++c) expect_same_chain(fresh.chains[c], again.chains[c]);
}

// A run equals its kernel, advanced by hand.
TEST(Sample, IsWarmupAndThenTheFrozenKernel) {
  const SampleSettings settings = alone(short_run(KernelKind::nuts));
  const SampleResult result = sample(Bumpy(4), settings);
  EXPECT_EQ(result.names, (std::vector<std::string>{"x.1", "x.2", "x.3", "x.4"}));
  EXPECT_EQ(result.kernel.kind, KernelKind::nuts);
  const Address address{.seed = 31, .chain = 2};
  auto kernel = make_kernel(Bumpy(4), settings.kernel);
  Guard guard{Bumpy(4)};
  kernel->set_position(random_initial_point(guard, settings.initial, address));
  Warmup warmup(std::move(kernel), settings.warmup, address);
  while (!warmup.done()) warmup.step();
  FrozenKernel frozen = std::move(warmup).finish();
  const ChainRecord& record = result.chains[2].record;
  EXPECT_EQ(record.centre, testing::copy(frozen.state().position));
  EXPECT_EQ(frozen.tuning().step_size, result.chains[2].tuning.step_size);
  EXPECT_EQ(frozen.guard().evaluations(), result.chains[2].gradients_warmup);
  std::uint64_t leapfrogs = 0;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const Transition& transition = frozen.transition({31, 2, 200 + i});
    EXPECT_EQ(testing::copy(record.draw(i)), testing::copy(transition.state.position));
    leapfrogs += transition.leapfrogs;
  }
  EXPECT_EQ(leapfrogs, result.chains[2].gradients_sampling);
}

TEST(Sample, StartsWhereItIsTold) {
  SampleSettings settings = short_run(KernelKind::hmc);
  settings.warmup.iterations = 0;
  settings.kernel.hmc.path_steps = 1;
  settings.start = {{0.5, -0.5}};
  for (const ChainResult& chain : sample(Bumpy(2), settings).chains) {
    EXPECT_EQ(chain.record.centre, (Numbers{0.5, -0.5}));
  }
  settings.start = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};
  const SampleResult result = sample(Bumpy(2), settings);
  for (std::size_t c = 0; c < 5; ++c) {
    EXPECT_EQ(result.chains[c].record.centre, Numbers(2, static_cast<double>(c + 1)));
  }
}

/// Fails in one chain only: the one that starts at the marked position.
class FailsAtThree {
 public:
  std::size_t dimension() const { return 1; }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    if (x[0] == 3) throw std::logic_error("three is right out");
    gradient[0] = -x[0];
    return -0.5 * x[0] * x[0];
  }
};

TEST(Sample, ThrowsWhatAChainThrew) {
  for (const int threads : {1, 4}) {
    SampleSettings settings = short_run(KernelKind::nuts);
    settings.threads = threads;
    settings.start = {{1}, {2}, {3}, {4}, {5}};
    try {
      sample(FailsAtThree{}, settings);
      ADD_FAILURE() << "no error";
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find("three is right out"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Sample, CountsTheFaultsOfAModel) {
  SampleSettings settings = short_run(KernelKind::nuts);
  const SampleResult result = sample(Walled(4, 1.5, Fault::exception), settings);
  std::size_t divergences = 0;
  for (const ChainResult& chain : result.chains) {
    // The search for a step size and warmup meet the wall as well.
    EXPECT_GT(chain.faults[static_cast<std::size_t>(Fault::exception)],
              chain.record.divergences.size());
    EXPECT_EQ(chain.faults[static_cast<std::size_t>(Fault::not_a_number)], 0U);
    EXPECT_EQ(chain.first_message, "beyond the wall");
    for (const StoredDivergence& stored : chain.record.divergences) {
      EXPECT_EQ(stored.fault, Fault::exception);
    }
    divergences += chain.record.divergences.size();
  }
  EXPECT_GT(divergences, 0U);
}

/// Raises an interrupt at its n-th gradient.
struct Interrupts {
  std::atomic<int>* interrupts;
  std::shared_ptr<std::atomic<int>> left;

  std::size_t dimension() const { return 3; }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    if (--*left == 0) *interrupts = 1;
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      value -= x[i] * x[i] / 2;
      gradient[i] = -x[i];
    }
    return value;
  }
};

SampleResult interrupted_run(const SampleSettings& settings, int gradients) {
  std::atomic<int> interrupts = 0;
  const auto left = std::make_shared<std::atomic<int>>(gradients);
  return sample(Interrupts{&interrupts, left}, settings, {.interrupts = &interrupts});
}

// One thread, five chains: the stop comes in the third one.
TEST(Sample, StopsWithTheDrawsItHas) {
  const SampleSettings settings = alone(short_run(KernelKind::nuts));
  const SampleResult whole = interrupted_run(settings, -1);
  EXPECT_FALSE(whole.stopped);
  const auto gradients = [&](std::size_t c) {
    return static_cast<int>(whole.chains[c].gradients_warmup + whole.chains[c].gradients_sampling);
  };
  // The spot check takes gradients too, so this is early in the sampling of the third chain.
  const int until_third =
      gradients(0) + gradients(1) +
      static_cast<int>(whole.chains[2].gradients_warmup + whole.chains[2].gradients_sampling / 2);
  const SampleResult found = interrupted_run(settings, until_third);
  EXPECT_TRUE(found.stopped);
  ASSERT_EQ(found.chains.size(), whole.chains.size());
  for (std::size_t c = 0; c < 2; ++c) expect_same_chain(found.chains[c], whole.chains[c]);
  const ChainRecord& third = found.chains[2].record;
  ASSERT_GT(third.size(), 0U);
  ASSERT_LT(third.size(), whole.chains[2].record.size());
  for (std::size_t i = 0; i < third.draws.size(); ++i) {
    ASSERT_EQ(third.draws[i], whole.chains[2].record.draws[i]);
  }
  EXPECT_EQ(found.chains[2].iterations, 200 + third.size());
  EXPECT_TRUE(found.chains[2].sampling);
  for (std::size_t c = 3; c < 5; ++c) {
    EXPECT_EQ(found.chains[c].record.size(), 0U);
    EXPECT_EQ(found.chains[c].iterations, 0U);
  }
}

TEST(Sample, StopsInWarmupAndBeforeTheStart) {
  const SampleSettings settings = short_run(KernelKind::hmc);
  const SampleResult in_warmup = interrupted_run(settings, 100);
  EXPECT_TRUE(in_warmup.stopped);
  EXPECT_GT(in_warmup.chains[0].iterations, 0U);
  EXPECT_FALSE(in_warmup.chains[0].sampling);
  EXPECT_EQ(in_warmup.chains[0].record.size(), 0U);
  std::atomic<int> interrupts = 1;
  const SampleResult none = sample(Bumpy(2), settings, {.interrupts = &interrupts});
  EXPECT_TRUE(none.stopped);
  EXPECT_EQ(none.chains[0].iterations, 0U);
}

TEST(Sample, ReportsProgressAndTime) {
  const SampleSettings settings = short_run(KernelKind::nuts);
  Progress progress(5, 200, 60);
  const SampleResult result =
      sample(Walled(4, 1.5, Fault::exception), settings, {.progress = &progress});
  for (std::size_t c = 0; c < 5; ++c) {
    const ChainProgress& chain = progress.chains[c];
    EXPECT_TRUE(chain.begun);
    EXPECT_EQ(chain.iteration, result.chains[c].warmup_iterations + 60);
    EXPECT_EQ(chain.gradients,
              result.chains[c].gradients_warmup + result.chains[c].gradients_sampling);
    EXPECT_EQ(chain.divergences, result.chains[c].record.divergences.size());
    EXPECT_EQ(chain.step_size, result.chains[c].tuning.step_size);
    EXPECT_EQ(chain.depth, result.chains[c].record.depth.back());
    EXPECT_GT(result.chains[c].seconds_warmup, 0);
    EXPECT_GT(result.chains[c].seconds_sampling, 0);
  }
  Progress too_small(4, 200, 60);
  EXPECT_THROW(sample(Bumpy(2), settings, {.progress = &too_small}), ConfigError);
}

TEST(Sample, NamesAreThoseOfTheModel) {
  SampleSettings settings = short_run(KernelKind::nuts);
  settings.chains = 1;
  const SampleResult result = sample(EightSchoolsCentred{}, settings);
  EXPECT_EQ(result.names, names_of(EightSchoolsCentred{}.quantities()));
  EXPECT_EQ(result.coordinates, EightSchoolsCentred{}.names());
  EXPECT_EQ(result.names[1], "tau");
  EXPECT_EQ(result.coordinates[1], "log_tau");
}

}  // namespace
}  // namespace rehmc::sample_test
