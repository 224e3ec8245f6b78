// A chain that is stored and restored continues bit for bit.
#include "rehmc/run/chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/banana.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::chain_test {
namespace {

using testing::every_kernel;

/// Everything that a chain reports of an iteration.
std::vector<double> numbers_of(const Transition& transition) {
  std::vector<double> all{transition.state.log_density,
                          transition.acceptance,
                          transition.step_size,
                          transition.energy,
                          transition.energy_error,
                          transition.path_length,
                          transition.mass,
                          static_cast<double>(transition.depth),
                          static_cast<double>(transition.leapfrogs),
                          static_cast<double>(transition.ending)};
  const auto append = [&](std::span<const double> values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  append(transition.state.position);
  append(transition.state.gradient);
  append(transition.feature_means.all);
  for (const WeightedState& state : transition.recycled) {
    append(state.state.position);
    all.push_back(state.weight);
  }
  return all;
}

SampleSettings short_run(KernelKind kind, MetricKind metric, MetricSource source) {
  SampleSettings settings;
  settings.kernel.kind = kind;
  settings.kernel.recycling = parse_recycling("spread:3");
  settings.warmup.schedule = WarmupSchedule::stan;
  settings.warmup.iterations = 260;  // with two windows
  settings.warmup.metric = metric;
  settings.warmup.metric_from = source;
  return settings;
}

// The chain is replaced by its own restoration after every single iteration.
TEST(Chain, ContinuesFromAnyIteration) {
  constexpr Address address{11, 2, 0};
  for (const KernelKind kind : every_kernel) {
    for (const MetricKind metric : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
      for (const MetricSource source : {MetricSource::recycled, MetricSource::draws}) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + std::string(describe(metric)));
        const SampleSettings settings = short_run(kind, metric, source);
        const Density density = Banana{};
        Chain straight(density, settings, address);
        auto stored = std::make_unique<Chain>(density, settings, address);
        for (int i = 0; i < 300; ++i) {
          ArchiveWriter writer;
          writer(*stored);
          ArchiveReader reader(writer.bytes());
          stored = std::make_unique<Chain>(density, settings, address, reader);
          ASSERT_EQ(reader.left(), 0U);
          ASSERT_EQ(stored->iteration(), straight.iteration());
          ASSERT_EQ(stored->warm(), straight.warm());
          if (straight.warm()) {
            straight.begin_sampling();
            stored->begin_sampling();
          }
          ASSERT_EQ(numbers_of(stored->step()), numbers_of(straight.step())) << "iteration " << i;
        }
        EXPECT_FALSE(straight.warming_up());
        EXPECT_EQ(stored->guard().evaluations(), straight.guard().evaluations());
        EXPECT_EQ(stored->facts().gradients_warmup, straight.facts().gradients_warmup);
        EXPECT_EQ(stored->facts().divergences_warmup, straight.facts().divergences_warmup);
      }
    }
  }
}

// The momentum that is kept belongs to the chain's state; a new metric draws it afresh, also in a
// chain that was restored in between.
TEST(Chain, KeepsItsMomentumWhenItIsRestored) {
  constexpr Address address{11, 3, 0};
  SampleSettings settings = short_run(KernelKind::hmc, MetricKind::dense, MetricSource::recycled);
  settings.kernel.hmc.path_steps = 2;
  settings.kernel.hmc.momentum_kept = 0.9;
  const Density density = Banana{};
  Chain straight(density, settings, address);
  auto stored = std::make_unique<Chain>(density, settings, address);
  for (int i = 0; i < 300; ++i) {
    ArchiveWriter writer;
    writer(*stored);
    ArchiveReader reader(writer.bytes());
    stored = std::make_unique<Chain>(density, settings, address, reader);
    if (straight.warm()) {
      straight.begin_sampling();
      stored->begin_sampling();
    }
    ASSERT_EQ(numbers_of(stored->step()), numbers_of(straight.step())) << "iteration " << i;
  }
}

// Sums for sharpening are additional, change no draw, and are restored.
TEST(Chain, SumsGradientsOnDemand) {
  constexpr Address address{12, 1, 0};
  constexpr std::size_t d = 2;
  const Density density = Banana{};
  for (const KernelKind kind : every_kernel) {
    const SampleSettings settings = short_run(kind, MetricKind::diagonal, MetricSource::recycled);
    Chain plain(density, settings, address);
    auto chain =
        std::make_unique<Chain>(density, settings, address, SummedFeatures::gradient_moments);
    for (int i = 0; i < 300; ++i) {
      ArchiveWriter writer;
      writer(*chain);
      ArchiveReader reader(writer.bytes());
      chain = std::make_unique<Chain>(density, settings, address, reader,
                                      SummedFeatures::gradient_moments);
      if (plain.warm()) {
        plain.begin_sampling();
        chain->begin_sampling();
      }
      const Transition& expected = plain.step();
      const Transition& found = chain->step();
      for (std::size_t k = 0; k < d; ++k) {
        ASSERT_EQ(found.state.position[k], expected.state.position[k]);
      }
      if (plain.warming_up()) continue;
      ASSERT_EQ(expected.feature_means.all.size(), 2 * d);
      ASSERT_EQ(found.feature_means.all.size(), 5 * d);
      for (std::size_t k = 0; k < 2 * d; ++k) {
        const double mean = expected.feature_means.all[k];
        ASSERT_NEAR(found.feature_means.all[k], mean, 1e-12 * (1 + std::abs(mean)));
      }
    }
    EXPECT_FALSE(chain->warming_up());
  }
}

TEST(Chain, IsNotRestoredIntoAModelOfAnotherDimension) {
  const SampleSettings settings =
      short_run(KernelKind::nuts, MetricKind::diagonal, MetricSource::recycled);
  const Density banana = Banana{};
  const Chain chain(banana, settings, {1, 0, 0});
  ArchiveWriter writer;
  writer(chain);
  ArchiveReader reader(writer.bytes());
  EXPECT_THROW(Chain(testing::Bumpy(9), settings, {1, 0, 0}, reader), DataError);
}

TEST(Chain, IsNotRestoredFromHalfOfItsBytes) {
  const SampleSettings settings =
      short_run(KernelKind::nuts, MetricKind::diagonal, MetricSource::recycled);
  const Density banana = Banana{};
  const Chain chain(banana, settings, {1, 0, 0});
  ArchiveWriter writer;
  writer(chain);
  ArchiveReader reader(std::string_view(writer.bytes()).substr(0, writer.bytes().size() / 2));
  EXPECT_THROW(Chain(banana, settings, {1, 0, 0}, reader), DataError);
}

}  // namespace
}  // namespace rehmc::chain_test
