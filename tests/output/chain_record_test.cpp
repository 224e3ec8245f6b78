// The record of a chain stores what the transitions reported.
#include "rehmc/output/chain_record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::chain_record_test {
namespace {

using testing::address;
using testing::copy;
using testing::Numbers;

constexpr std::size_t dimension = 3;

Numbers part(const Numbers& numbers, std::size_t begin, std::size_t count) {
  const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

/// Draw i is what this transition reported.
void expect_draw(const ChainRecord& record, std::size_t i, const Transition& transition) {
  ASSERT_EQ(copy(record.draw(i)), copy(transition.state.position));
  ASSERT_EQ(record.log_density[i], transition.state.log_density);
  ASSERT_EQ(record.acceptance[i], transition.acceptance);
  ASSERT_EQ(record.step_size[i], transition.step_size);
  ASSERT_EQ(record.energy[i], transition.energy);
  ASSERT_EQ(record.energy_error[i], transition.energy_error);
  ASSERT_EQ(record.path_length[i], transition.path_length);
  ASSERT_EQ(record.mass[i], transition.mass);
  ASSERT_EQ(record.depth[i], transition.depth);
  ASSERT_EQ(record.leapfrogs[i], transition.leapfrogs);
  ASSERT_EQ(record.ending[i], transition.ending);
  const Numbers means = copy(transition.feature_means.all);
  ASSERT_EQ(part(record.mean_offset, i * dimension, dimension), part(means, 0, dimension));
  ASSERT_EQ(part(record.mean_square, i * dimension, dimension), part(means, dimension, dimension));
}

void expect_kept(const ChainRecord& record, std::size_t i, const Transition& transition) {
  for (std::size_t k = 0; k < transition.recycled.size(); ++k) {
    const WeightedState& state = transition.recycled[k];
    const std::size_t at = record.kept_begin(i) + k;
    ASSERT_EQ(part(record.kept, at * dimension, dimension), copy(state.state.position));
    ASSERT_EQ(record.kept_weight[at], state.weight);
    for (std::size_t j = 0; j < dimension; ++j) {
      ASSERT_EQ(record.kept_gradient[at * dimension + j],
                static_cast<float>(state.state.gradient[j]));
    }
  }
}

void expect_last_divergence(const ChainRecord& record, std::size_t i,
                            const Transition& transition) {
  const StoredDivergence& stored = record.divergences.back();
  ASSERT_EQ(stored.draw, i);
  ASSERT_EQ(stored.start, copy(transition.divergence.start));
  ASSERT_EQ(stored.momentum, copy(transition.divergence.momentum));
  ASSERT_EQ(stored.end, copy(transition.divergence.end));
  ASSERT_EQ(stored.fault, Fault::exception);
}

TEST(ChainRecord, HoldsWhatTheTransitionsReported) {
  for (const KernelKind kind : testing::every_kernel) {
    for (const Recycling& recycling : testing::every_recycling(kind)) {
      SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
      auto kernel = testing::kernel_at_start(testing::Walled(dimension, 1.2, Fault::exception),
                                             testing::kernel_settings(kind, recycling));
      const MomentFeatures moments(Numbers{0.1, 0.2, 0.3});
      kernel->use_features(&moments);
      QuantityReader reader(testing::Walled(dimension, 1.2, Fault::exception), {});
      reader.set_centre(Numbers{0.1, 0.2, 0.3});
      ChainRecord record(reader, 10, KeptGradients::yes);  // fewer than come
      EXPECT_EQ(record.dimension(), dimension);
      EXPECT_EQ(record.size(), 0U);
      EXPECT_EQ(record.kept_begin(0), 0U);
      std::size_t kept = 0;
      std::size_t diverged = 0;
      for (std::size_t i = 0; i < 80; ++i) {
        const Transition& transition =
            kernel->transition(testing::diagonal_tuning(dimension, 0.3), address(i));
        record.add(reader.read(transition, address(i)));
        ASSERT_EQ(record.size(), i + 1);
        expect_draw(record, i, transition);

        ASSERT_EQ(record.kept_begin(i), kept);
        kept += transition.recycled.size();
        ASSERT_EQ(record.kept_begin(i + 1), kept);
        expect_kept(record, i, transition);
        if (transition.ending != Ending::diverged) continue;
        ASSERT_EQ(record.divergences.size(), ++diverged);
        expect_last_divergence(record, i, transition);
      }
      EXPECT_EQ(record.kept.size(), kept * dimension);
      EXPECT_EQ(record.kept_weight.size(), kept);
      EXPECT_GT(diverged, 0U);
      EXPECT_EQ(record.divergences.size(), diverged);
    }
  }
}

/// A record of two columns and three draws, each of which keeps a state with its gradient.
ChainRecord small_record() {
  ChainRecord record;
  record.columns = {0, 1};
  record.centre.resize(2);
  record.draws.resize(6);
  for (auto* series : {&record.log_density, &record.acceptance, &record.step_size, &record.energy,
                       &record.energy_error, &record.path_length, &record.mass}) {
    series->resize(3);
  }
  record.depth.resize(3);
  record.leapfrogs.resize(3);
  record.ending.assign(3, Ending::completed);
  record.mean_offset.resize(6);
  record.mean_square.resize(6);
  record.kept.resize(6);
  record.kept_weight.assign(3, 1);
  record.kept_end = {1, 2, 3};
  record.gradients = KeptGradients::yes;
  record.coordinates = 2;
  record.kept_gradient.resize(6);
  record.divergences = {{2, {0, 0}, {}, {0, 0}, Fault::none}};
  return record;
}

TEST(ChainRecord, IsWholeOnlyIfAllArraysFit) {
  EXPECT_NO_THROW(small_record().require_whole());
  EXPECT_NO_THROW(ChainRecord().require_whole());
  const auto broken = [](const auto& damage) {
    ChainRecord record = small_record();
    damage(record);
    EXPECT_THROW(record.require_whole(), DataError);
  };
  const auto longer = [&](auto part) {
    broken([&](ChainRecord& r) { (r.*part).resize((r.*part).size() + 1); });
    broken([&](ChainRecord& r) { (r.*part).resize((r.*part).size() - 1); });
  };
  longer(&ChainRecord::columns);
  longer(&ChainRecord::centre);
  for (auto part : {&ChainRecord::draws, &ChainRecord::log_density, &ChainRecord::acceptance,
                    &ChainRecord::step_size, &ChainRecord::energy, &ChainRecord::energy_error,
                    &ChainRecord::path_length, &ChainRecord::mass, &ChainRecord::mean_offset,
                    &ChainRecord::mean_square, &ChainRecord::kept, &ChainRecord::kept_weight}) {
    longer(part);
  }
  longer(&ChainRecord::depth);
  longer(&ChainRecord::leapfrogs);
  longer(&ChainRecord::ending);
  longer(&ChainRecord::kept_end);
  longer(&ChainRecord::kept_gradient);
  broken([](ChainRecord& r) { r.kept_end = {2, 1, 3}; });
  broken([](ChainRecord& r) { r.kept_end = {1, 2, 4}; });
  broken([](ChainRecord& r) { r.kept_columns = {0, 2}; });
  broken([](ChainRecord& r) { r.kept_position.resize(4); });
  broken([](ChainRecord& r) { r.gradients = KeptGradients::no; });
  broken([](ChainRecord& r) { r.coordinates = 3; });
  broken([](ChainRecord& r) { r.divergences.front().draw = 3; });
  broken([](ChainRecord& r) { r.divergences.front().start = {0}; });
  broken([](ChainRecord& r) { r.divergences.front().end = {0, 0, 0}; });
}

TEST(ChainRecord, OfAComputingModelNeedsPositions) {
  ChainRecord record = small_record();
  record.computed = true;
  record.kept_columns.emplace();
  record.kept.clear();
  record.mean_offset.clear();
  record.mean_square.clear();
  EXPECT_THROW(record.require_whole(), DataError);
  record.kept_position.resize(6);
  EXPECT_NO_THROW(record.require_whole());
}

}  // namespace
}  // namespace rehmc::chain_record_test
