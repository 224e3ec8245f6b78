// The batch engine: the same chains as in threads, however they are grouped, without long waits.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/cox_process.hpp"
#include "models/hierarchical_logistic.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/run/engine.hpp"
#include "rehmc/run/sample.hpp"
#include "tests/kernel/mechanics.hpp"
#include "tests/run/same_chain.hpp"

namespace rehmc::batch_test {
namespace {

using testing::Bumpy;
using testing::every_kernel;
using testing::Numbers;
using testing::Walled;

/// How many columns each batched call had; copies of a density share it.
class Calls {
 public:
  void add(std::size_t columns) {
    const std::lock_guard lock(mutex_);
    ++counts_[columns];
  }
  std::size_t all() const {
    std::size_t sum = 0;
    for (const auto& [columns, count] : counts_) sum += count;
    return sum;
  }
  std::size_t of(std::size_t columns) const {
    return counts_.contains(columns) ? counts_.at(columns) : 0;
  }
  std::size_t most_columns() const { return counts_.empty() ? 0 : counts_.rbegin()->first; }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> counts_;
};

/// A density whose batched call is the loop over the plain one: a fault in it hits the whole batch.
template <class D>
class Looped {
 public:
  explicit Looped(D density, std::shared_ptr<Calls> calls = std::make_shared<Calls>())
      : density_(std::move(density)), calls_(std::move(calls)) {}
  std::size_t dimension() const { return density_.dimension(); }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    return density_(x, gradient);
  }
  void evaluate_batch(const Batch& batch) {
    calls_->add(batch.columns);
    const std::size_t d = dimension();
    for (std::size_t c = 0; c < batch.columns; ++c) {
      batch.log_densities[c] = density_({batch.positions + c * batch.stride, d},
                                        {batch.gradients + c * batch.stride, d});
    }
  }

 private:
  D density_;
  std::shared_ptr<Calls> calls_;
};

SampleSettings short_run(KernelKind kind = KernelKind::nuts) {
  SampleSettings settings;
  settings.kernel.kind = kind;
  settings.kernel.recycling = parse_recycling("spread:4");
  settings.warmup.iterations = 120;
  settings.draws = 30;
  settings.chains = 5;
  settings.threads = 1;
  settings.seed = 31;
  return settings;
}

SampleSettings in_batches(SampleSettings settings, int batch, int threads = 1) {
  settings.engine = EngineKind::batch;
  settings.batch = batch;
  settings.threads = threads;
  return settings;
}

void expect_same(const SampleResult& one, const SampleResult& other) {
  ASSERT_EQ(one.chains.size(), other.chains.size());
  EXPECT_EQ(one.names, other.names);
  for (std::size_t c = 0; c < one.chains.size(); ++c) {
    SCOPED_TRACE(c);
    const ChainResult& a = one.chains[c];
    const ChainResult& b = other.chains[c];
    testing::expect_same_chain(a, b);
    EXPECT_EQ(a.record.kept, b.record.kept);
    EXPECT_EQ(a.record.kept_weight, b.record.kept_weight);
    EXPECT_EQ(a.record.kept_gradient, b.record.kept_gradient);
    EXPECT_EQ(a.spot_check.passed, b.spot_check.passed);
  }
}

TEST(BatchEngine, GivesTheBitsOfThreadsWhereTheBatchedCallIsTheLoop) {
  for (const KernelKind kind : every_kernel) {
    for (const MetricKind metric : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
      for (const Recycling& recycling : testing::every_recycling(kind)) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
        SampleSettings settings = short_run(kind);
        settings.kernel.recycling = recycling;
        settings.warmup.metric = metric;
        const SampleResult expected = sample(Bumpy(4), settings);
        const auto calls = std::make_shared<Calls>();
        expect_same(sample(Looped(Bumpy(4), calls), in_batches(settings, 3)), expected);
        EXPECT_GT(calls->of(3), calls->all() / 2);
        EXPECT_EQ(calls->most_columns(), 3U);
      }
    }
  }
}

// The momentum belongs to the chain, not to the fiber or the thread that runs it.
TEST(BatchEngine, GivesTheBitsOfThreadsWhereMomentumIsKept) {
  SampleSettings settings = short_run(KernelKind::hmc);
  settings.kernel.hmc.path_steps = 2;
  settings.kernel.hmc.momentum_kept = 0.8;
  const SampleResult expected = sample(Bumpy(4), settings);
  expect_same(sample(Looped(Bumpy(4)), in_batches(settings, 3)), expected);
  settings.kernel.hmc.momentum_kept = 0;
  EXPECT_NE(sample(Bumpy(4), settings).chains[0].record.draws, expected.chains[0].record.draws);
}

TEST(BatchEngine, AFaultCostsOnlyTheChainThatMeetsIt) {
  for (const Fault fault :
       {Fault::exception, Fault::not_a_number, Fault::bad_gradient, Fault::none}) {
    SCOPED_TRACE(describe(fault));
    const Walled walled(4, 1.5, fault);
    const SampleSettings settings = short_run();
    const SampleResult expected = sample(walled, settings);
    expect_same(sample(Looped(walled), in_batches(settings, 5)), expected);
    if (fault == Fault::none) continue;
    for (const ChainResult& chain : expected.chains) {
      EXPECT_GT(chain.faults[static_cast<std::size_t>(fault)], 0U);
    }
  }
}

HierarchicalLogistic logistic() {
  return HierarchicalLogistic(
      with_interactions(simulate_attributes({.observations = 60, .attributes = 3})));
}

TEST(BatchEngine, GivesTheSameBitsInBatchesOfAnySizeOnAnyNumberOfThreads) {
  const SampleSettings settings = short_run();
  const SampleResult expected = sample(logistic(), in_batches(settings, 1));
  for (const int batch : {2, 3, 32}) {
    for (const int threads : {1, 2, 4}) {
      SCOPED_TRACE(batch);
      expect_same(sample(logistic(), in_batches(settings, batch, threads)), expected);
    }
  }
}

// Rounding grows along a chain, by a factor of a few per draw: the first ones must agree.
TEST(BatchEngine, GivesTheDrawsOfThreadsUpToRounding) {
  const auto expect_near_threads = [](const Density& density, double tolerance) {
    for (const KernelKind kind : every_kernel) {
      SCOPED_TRACE(describe(kind));
      SampleSettings settings = short_run(kind);
      settings.warmup.iterations = 0;
      settings.warmup.step_size = 0.05;
      settings.kernel.nuts.max_depth = 4;
      settings.kernel.hmc.path_steps = 8;
      settings.draws = 4;
      const SampleResult threads = sample(density, settings);
      const SampleResult batch = sample(density, in_batches(settings, 5));
      for (std::size_t c = 0; c < 5; ++c) {
        const Numbers& one = threads.chains[c].record.draws;
        const Numbers& other = batch.chains[c].record.draws;
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
          EXPECT_NEAR(one[i], other[i], tolerance * (1 + std::abs(one[i])));
        }
      }
    }
  };
  expect_near_threads(logistic(), 1e-9);
  const CoxSettings cox{.size = 5};
  expect_near_threads(CoxProcess(cox, simulate_cox_counts(cox, 1)), 1e-9);
  expect_near_threads(WhitenedCoxProcess(cox, simulate_cox_counts(cox, 1)), 1e-9);
}

TEST(BatchEngine, RunsModelsWithoutABatchedCallInThreads) {
  const SampleSettings settings = short_run();
  Engine engine(Bumpy(4), in_batches(settings, 5).engine_settings());
  EXPECT_EQ(engine.chains_per_thread(), 1U);
  expect_same(sample(Bumpy(4), in_batches(settings, 5)), sample(Bumpy(4), settings));
}

/// Requests this many gradients.
void ask(Density& density, std::size_t times) {
  Numbers x(density.dimension(), 0.5);
  Numbers gradient(density.dimension());
  for (std::size_t i = 0; i < times; ++i) density(x, gradient);
}

// One call per gradient of the chain that needs the most, whatever the others need.
TEST(Engine, LetsNoChainWaitForAnothersTrajectory) {
  const auto calls = std::make_shared<Calls>();
  Engine engine(Looped(Bumpy(2), calls), {EngineKind::batch, 4, 1, 8});
  std::atomic<bool> failed = false;
  engine.run(failed, [&](std::size_t chain) {
    Density density = engine.density(chain);
    ask(density, 10 * (chain + 1));
  });
  EXPECT_EQ(calls->all(), 40U);
  for (const std::size_t columns : {1U, 2U, 3U, 4U}) EXPECT_EQ(calls->of(columns), 10U);
}

// If every machine takes the next job as soon as it is free, all end within sum / machines + the
// longest job (Graham 1966).
TEST(Engine, FillsAPlaceThatAChainHasLeft) {
  const auto calls = std::make_shared<Calls>();
  Engine engine(Looped(Bumpy(2), calls), {EngineKind::batch, 40, 1, 8});
  EXPECT_EQ(engine.chains_per_thread(), 8U);
  const auto gradients = [](std::size_t chain) { return 100 + 17 * (chain % 5); };
  std::size_t sum = 0;
  std::vector<int> begun(40, 0);
  std::atomic<bool> failed = false;
  engine.run(failed, [&](std::size_t chain) {
    ++begun[chain];
    sum += gradients(chain);
    Density density = engine.density(chain);
    ask(density, gradients(chain));
  });
  EXPECT_EQ(begun, std::vector<int>(40, 1));
  EXPECT_EQ(calls->most_columns(), 8U);
  EXPECT_LE(calls->all(), sum / 8 + gradients(4));
}

TEST(Engine, DealsChainsEvenly) {
  const Looped model{Bumpy(2)};
  const auto per_thread = [&](std::size_t chains, std::size_t threads, std::size_t batch) {
    return Engine(model, {EngineKind::batch, chains, threads, batch}).chains_per_thread();
  };
  EXPECT_EQ(per_thread(400, 2, 32), 29U);  // seven rounds of 29, not six of 32 and one of 8
  EXPECT_EQ(per_thread(5, 2, 32), 3U);
  EXPECT_EQ(per_thread(1, 4, 32), 1U);
  EXPECT_EQ(per_thread(64, 2, 32), 32U);
}

TEST(Engine, ThrowsTheErrorOfTheFirstChainThatFailed) {
  Engine engine(Looped(Bumpy(2)), {EngineKind::batch, 20, 2, 4});
  std::atomic<bool> failed = false;
  std::atomic<int> begun = 0;
  try {
    engine.run(failed, [&](std::size_t chain) {
      ++begun;
      Density density = engine.density(chain);
      ask(density, 5);
      if (chain == 2) throw std::domain_error("two is right out");
      while (!failed) ask(density, 1);
    });
    ADD_FAILURE() << "no error";
  } catch (const std::domain_error& error) {
    EXPECT_STREQ(error.what(), "two is right out");
  }
  EXPECT_LT(begun, 20);
  // It can be used again.
  failed = false;
  begun = 0;
  engine.run(failed, [&](std::size_t) { ++begun; });
  EXPECT_EQ(begun, 20);
}

TEST(Engine, KeepsApartTheExceptionsThatFibersHandle) {
  Engine engine(Looped(Bumpy(2)), {EngineKind::batch, 6, 1, 6});
  std::atomic<bool> failed = false;
  engine.run(failed, [&](std::size_t chain) {
    Density density = engine.density(chain);
    try {
      throw chain;
    } catch (std::size_t) {
      ask(density, 1 + chain);
      try {
        throw;
      } catch (std::size_t again) {
        EXPECT_EQ(again, chain);
      }
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TEST(Engine, AnswersBetweenRunsAsInThem) {
  Engine engine(logistic(), {EngineKind::batch, 3, 1, 3});
  const std::size_t d = engine.density(0).dimension();
  std::vector<Numbers> inside(3, Numbers(d));
  std::vector<Numbers> outside(3, Numbers(d));
  const auto evaluate = [&](std::size_t chain, std::vector<Numbers>& gradients) {
    Density density = engine.density(chain);
    density(Numbers(d, 0.1 * static_cast<double>(chain)), gradients[chain]);
  };
  std::atomic<bool> failed = false;
  engine.run(failed, [&](std::size_t chain) { evaluate(chain, inside); });
  for (std::size_t chain = 0; chain < 3; ++chain) evaluate(chain, outside);
  EXPECT_EQ(inside, outside);
}

/// Does not write the last entry of the gradient.
class Forgetful : public Looped<Bumpy> {
 public:
  Forgetful() : Looped(Bumpy(3)) {}
  void evaluate_batch(const Batch& batch) {
    std::vector<double> last;
    for (std::size_t c = 0; c < batch.columns; ++c) {
      last.push_back(batch.gradients[c * batch.stride + 2]);
    }
    Looped::evaluate_batch(batch);
    for (std::size_t c = 0; c < batch.columns; ++c) batch.gradients[c * batch.stride + 2] = last[c];
  }
};

TEST(BatchEngine, NoticesAGradientThatIsNotWritten) {
  EXPECT_THROW(sample(Forgetful{}, in_batches(short_run(), 5)), GradientLengthError);
}

// Eigen takes hundreds of kilobytes of the stack for large products.
TEST(Engine, HasRoomOnItsStacks) {
  Engine engine(Looped(Bumpy(2)), {EngineKind::batch, 3, 1, 3});
  std::atomic<bool> failed = false;
  engine.run(failed, [&](std::size_t chain) {
    Density density = engine.density(chain);
    volatile char room[std::size_t{768} << 10];
    for (std::size_t i = 0; i < sizeof room; i += 512) room[i] = static_cast<char>(chain);
    ask(density, 3);
    for (std::size_t i = 0; i < sizeof room; i += 512) {
      ASSERT_EQ(room[i], static_cast<char>(chain));
    }
  });
}

TEST(Engine, IsKnownByName) {
  EXPECT_EQ(parse_engine("batch"), EngineKind::batch);
  EXPECT_EQ(parse_engine(describe(EngineKind::threads)), EngineKind::threads);
  EXPECT_THROW(parse_engine("steam"), ConfigError);
}

}  // namespace
}  // namespace rehmc::batch_test
