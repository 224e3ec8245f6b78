// Quantities of kept states that are read later are those that are read at once.
#include "rehmc/output/kept_quantities.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "rehmc/run/sample.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::kept_quantities_test {
namespace {

/// Its quantities are a square, which fails above a limit, a sum, and noise.
struct Noisy : testing::Bumpy {
  explicit Noisy(double most) : Bumpy(2), limit(most) {}
  std::vector<Quantity> quantities() const {
    return {{"square"}, {.name = "sum", .transformed = true}, {.name = "noise", .generated = true}};
  }
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const {
    if (x[0] > limit) throw std::domain_error("too large");
    values[0] = x[0] * x[0];
    values[1] = x[0] + x[1];
    values[2] = stream == nullptr ? std::nan("") : stream->uniform();
  }
  double limit;
};

/// The same, but able to compute the first quantities alone; the sum is then marked.
struct Partial : Noisy {
  using Noisy::Noisy;
  void evaluate_first_quantities(std::span<const double> x, std::span<double> values) const {
    if (x[0] > limit) throw std::domain_error("too large");
    values[0] = x[0] * x[0];
    if (values.size() > 1) values[1] = x[0] + x[1] + 1000;
  }
};

SampleResult run(const Density& density, bool generated = false) {
  SampleSettings settings;
  settings.seed = 4;
  settings.chains = 2;
  settings.draws = 60;
  settings.warmup.iterations = 50;
  settings.recycle_generated = generated;
  return sample(density, settings);
}

TEST(KeptQuantities, are_those_of_the_states) {
  for (const double limit : {1e9, 0.5}) {
    const SampleResult result = run(Noisy(limit));
    for (const ChainResult& chain : result.chains) {
      const ChainRecord& record = chain.record;
      ASSERT_EQ(record.kept_columns, (std::vector<std::size_t>{0, 1}));
      std::uint64_t lost = 0;
      for (std::size_t k = 0; k < record.kept_weight.size(); ++k) {
        const double x = record.kept_position[2 * k];
        const double y = record.kept_position[2 * k + 1];
        lost += x > limit ? 1 : 0;
        EXPECT_EQ(std::isnan(record.kept[2 * k]), x > limit);
        if (x > limit) continue;
        EXPECT_EQ(record.kept[2 * k], x * x);
        EXPECT_EQ(record.kept[2 * k + 1], x + y);
      }
      EXPECT_EQ(chain.quantity_failures.kept, lost);
      EXPECT_EQ(lost > 0, limit < 1);
    }
    EXPECT_TRUE(result.recycles(0));
    EXPECT_FALSE(result.recycles(2));
  }
}

TEST(KeptQuantities, are_read_piece_by_piece_to_the_same_bits) {
  const Density density = Noisy(1e9);
  const SampleResult whole = run(density, true);
  SampleResult pieces = whole;
  SampleResult left = whole;
  for (ChainResult& chain : pieces.chains) chain.record.truncate(20);
  for (std::size_t c = 0; c < pieces.chains.size(); ++c) {
    // As if the run had gone on since.
    ChainRecord& record = left.chains[c].record;
    record.kept = pieces.chains[c].record.kept;
    record.mean_offset = pieces.chains[c].record.mean_offset;
    record.mean_square = pieces.chains[c].record.mean_square;
  }
  read_kept(density, {0, 1, 2}, left);
  for (std::size_t c = 0; c < whole.chains.size(); ++c) {
    EXPECT_EQ(left.chains[c].record.kept, whole.chains[c].record.kept);
    EXPECT_EQ(left.chains[c].record.mean_offset, whole.chains[c].record.mean_offset);
    EXPECT_EQ(left.chains[c].record.mean_square, whole.chains[c].record.mean_square);
  }
  // Other columns are read again, and noise is that of its state whoever is read with it.
  read_kept(density, {2}, left);
  for (std::size_t k = 0; k < left.chains[0].record.kept.size(); ++k) {
    EXPECT_EQ(left.chains[0].record.kept[k], whole.chains[0].record.kept[3 * k + 2]);
  }
}

TEST(KeptQuantities, only_as_many_are_computed_as_are_needed) {
  const Density density = Partial(1e9);
  SampleResult result = run(density);
  const ChainRecord& record = result.chains[0].record;
  EXPECT_GT(record.kept[1], 500);
  read_kept(density, {0}, result);
  EXPECT_EQ(record.kept_columns, (std::vector<std::size_t>{0}));
  EXPECT_EQ(record.kept.size(), record.kept_weight.size());
  EXPECT_EQ(record.kept[5], record.kept_position[10] * record.kept_position[10]);
}

TEST(KeptQuantities, columns_of_states_and_of_parameters) {
  SampleResult result = run(Noisy(1e9));
  EXPECT_EQ(columns_of_parameters(result), (std::vector<std::size_t>{0}));
  EXPECT_EQ(columns_of_states(result), (std::vector<std::size_t>{0, 1}));
  result.quantities[2].determined = true;
  EXPECT_EQ(columns_of_states(result), (std::vector<std::size_t>{0, 1, 2}));
  result.quantities[2].determined = false;
  result.recycle_generated = true;
  EXPECT_EQ(columns_of_parameters(result), (std::vector<std::size_t>{0, 2}));
}

}  // namespace
}  // namespace rehmc::kept_quantities_test
