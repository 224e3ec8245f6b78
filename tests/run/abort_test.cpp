// A model that ends the run, hooks of threads, and runs that are extended in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "models/eight_schools.hpp"
#include "rehmc/core/abort.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/run/sample.hpp"
#include "tests/run/same_chain.hpp"

namespace rehmc::abort_test {
namespace {

using testing::expect_same_chain;

/// Carries a cause, as models do that are written in another language.
class Cause : public Abort {
 public:
  explicit Cause(int at) : number(at) {}
  int number;
};

using Model = EightSchoolsNonCentred;

struct Counts {
  std::atomic<int> calls = 0;
  std::atomic<int> aborts = 0;
};

/// A normal that aborts from a call on; with a batched call if `batched`.
template <bool batched>
class Aborting {
 public:
  Aborting(Counts& counts, int at) : counts_(&counts), at_(at) {}
  std::size_t dimension() const { return 3; }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    if (++counts_->calls >= at_) {
      ++counts_->aborts;
      throw Cause(at_);
    }
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -x[i];
      value -= x[i] * x[i] / 2;
    }
    return value;
  }
  void evaluate_batch(const Batch& batch) requires batched {
    for (std::size_t c = 0; c < batch.columns; ++c) {
      batch.log_densities[c] =
          (*this)({batch.positions + c * batch.stride, 3}, {batch.gradients + c * batch.stride, 3});
    }
  }

 private:
  Counts* counts_;
  int at_;
};

SampleSettings short_run(int chains) {
  SampleSettings settings;
  settings.chains = chains;
  settings.threads = 1;
  settings.draws = 50;
  settings.warmup.iterations = 200;
  settings.seed = 5;
  return settings;
}

TEST(Abort, EndsTheRunWithItsCauseWhereverItIsThrown) {
  for (const int at : {1, 2, 30, 400}) {
    Counts counts;
    try {
      sample(Aborting<false>(counts, at), short_run(4));
      ADD_FAILURE() << "an abort at call " << at << " did not end the run";
    } catch (const Cause& cause) {
      EXPECT_EQ(cause.number, at);
    }
    EXPECT_EQ(counts.aborts, 1) << "it was tried again after call " << at;
  }
}

TEST(Abort, IsNotTriedAgainInABatch) {
  for (const int at : {1, 30, 400, 1500}) {
    Counts counts;
    SampleSettings settings = short_run(8);
    settings.engine = EngineKind::batch;
    EXPECT_THROW(sample(Aborting<true>(counts, at), settings), Cause) << at;
    EXPECT_EQ(counts.aborts, 1) << "it was tried again after call " << at;
  }
}

TEST(ThreadHooks, AreCalledAroundTheChainsInEveryThread) {
  struct Seen {
    std::mutex mutex;
    std::multiset<std::thread::id> begun;
    std::multiset<std::thread::id> ended;
  } seen;
  static thread_local bool inside = false;
  std::atomic<bool> outside = false;
  const auto density = FunctionDensity(2, [&](std::span<const double> x, std::span<double> g) {
    if (!inside) outside = true;
    g[0] = -x[0];
    g[1] = -x[1];
    return -(x[0] * x[0] + x[1] * x[1]) / 2;
  });
  SampleControl control;
  control.hooks.begin = [&] {
    inside = true;
    const std::lock_guard lock(seen.mutex);
    seen.begun.insert(std::this_thread::get_id());
  };
  control.hooks.end = [&] {
    inside = false;
    const std::lock_guard lock(seen.mutex);
    seen.ended.insert(std::this_thread::get_id());
  };
  SampleSettings settings = short_run(4);
  settings.threads = 2;
  sample(density, settings, control);
  EXPECT_FALSE(outside);
  EXPECT_GE(seen.begun.size(), 2U);
  EXPECT_EQ(seen.begun, seen.ended);
}

TEST(Extend, GivesTheBitsOfOneLongRun) {
  SampleSettings settings = short_run(5);
  SampleControl control;
  control.keep_chains = true;
  const Model model;
  SampleResult result = sample(model, settings, control);
  settings.draws = 120;
  const SampleResult whole = sample(model, settings);
  settings.threads = 2;
  extend(result, model, settings, control);
  EXPECT_FALSE(result.stopped);
  for (std::size_t c = 0; c < whole.chains.size(); ++c) {
    expect_same_chain(whole.chains[c], result.chains[c]);
    EXPECT_EQ(whole.chains[c].record.kept, result.chains[c].record.kept);
    EXPECT_EQ(whole.chains[c].record.kept_gradient, result.chains[c].record.kept_gradient);
  }
}

/// The eight schools, which users read as coordinates; interrupts after a number of calls, if that
/// is not negative.
class Interrupting {
 public:
  Interrupting(std::atomic<int>& interrupts, int after, bool aborts = false)
      : interrupts_(&interrupts), left_(after), aborts_(aborts) {}
  std::size_t dimension() const { return model_.dimension(); }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    if (left_ >= 0 && left_-- == 0) {
      *interrupts_ = 1;
      if (aborts_) throw Cause(0);
    }
    return model_(x, gradient);
  }

 private:
  Model model_;
  std::atomic<int>* interrupts_;
  int left_;
  bool aborts_;
};

TEST(Abort, AfterAnInterruptLeavesTheDrawsSoFar) {
  const SampleSettings settings = short_run(3);
  std::atomic<int> interrupts = 0;
  const Interrupting model(interrupts, -1);
  const SampleResult whole = sample(model, settings);
  for (const int after : {3, 60, 150, 250, 400}) {
    interrupts = 0;
    SampleControl control;
    control.keep_chains = true;
    control.interrupts = &interrupts;
    SampleResult result = sample(Interrupting(interrupts, after, true), settings, control);
    EXPECT_TRUE(result.stopped);
    for (std::size_t c = 0; c < result.chains.size(); ++c) {
      const std::vector<double>& draws = result.chains[c].record.draws;
      EXPECT_TRUE(std::equal(draws.begin(), draws.end(), whole.chains[c].record.draws.begin()));
    }
    interrupts = 0;
    extend(result, model, settings, control);
    for (std::size_t c = 0; c < whole.chains.size(); ++c) {
      EXPECT_EQ(whole.chains[c].record.draws, result.chains[c].record.draws);
    }
  }
}

TEST(Extend, ContinuesARunThatWasInterruptedAnywhere) {
  const SampleSettings settings = short_run(5);
  std::atomic<int> interrupts = 0;
  const Interrupting model(interrupts, -1);
  const SampleResult whole = sample(model, settings);
  for (const int after : {3, 60, 150, 250, 400}) {
    SCOPED_TRACE(after);
    interrupts = 0;
    SampleControl control;
    control.keep_chains = true;
    control.interrupts = &interrupts;
    SampleResult result = sample(Interrupting(interrupts, after), settings, control);
    EXPECT_TRUE(result.stopped);
    interrupts = 0;
    extend(result, model, settings, control);
    EXPECT_FALSE(result.stopped);
    for (std::size_t c = 0; c < whole.chains.size(); ++c) {
      expect_same_chain(whole.chains[c], result.chains[c]);
    }
  }
}

TEST(Extend, NeedsTheStatesOfTheChains) {
  const SampleSettings settings = short_run(2);
  SampleResult result = sample(Model(), settings);
  EXPECT_THROW(extend(result, Model(), settings), DataError);
}

}  // namespace
}  // namespace rehmc::abort_test
