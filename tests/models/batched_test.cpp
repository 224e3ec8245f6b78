// Batched calls of built-in targets: the plain call up to rounding; columns are independent.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "models/aligned_vector.hpp"
#include "models/cox_process.hpp"
#include "rehmc/core/random.hpp"
#include "tests/core/every_instructions.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::batched_test {
namespace {

/// Columns at random points.
struct Block {
  Block(std::size_t d, std::size_t n)
      : dimension(d),
        columns(n),
        stride((d + 7) / 8 * 8),
        positions(n * stride),
        gradients(n * stride),
        values(n) {
    Stream stream({.seed = 8}, Purpose::test);
    stream.fill_normal({positions.data(), positions.size()});
  }
  Batch part(std::size_t first, std::size_t count) {
    return {count, stride, positions.data() + first * stride, values.data() + first,
            gradients.data() + first * stride};
  }
  std::vector<double> answer(std::size_t column) const {
    std::vector<double> numbers(gradients.data() + column * stride,
                                gradients.data() + column * stride + dimension);
    numbers.push_back(values[column]);
    return numbers;
  }
  std::span<const double> position(std::size_t column) const {
    return {positions.data() + column * stride, dimension};
  }

  std::size_t dimension, columns, stride;
  AlignedVector positions, gradients, values;
};

TEST(Batched, IsThePlainCallUpToRounding) {
  int batched = 0;
  for (auto& [name, density] : all_targets()) {
    SCOPED_TRACE(name);
    batched += density.is_batched();
    Density model = density;
    Block block(model.dimension(), 19);
    model.evaluate_batch(block.part(0, 19));
    std::vector<double> gradient(model.dimension());
    for (std::size_t c = 0; c < 19; ++c) {
      const double value = model(block.position(c), gradient);
      double size = std::abs(value);
      for (const double entry : gradient) size = std::max(size, std::abs(entry));
      EXPECT_NEAR(block.values[c], value, 1e-12 * (1 + size));
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        EXPECT_NEAR(block.answer(c)[i], gradient[i], 1e-12 * (1 + size));
      }
    }
  }
  EXPECT_GE(batched, 6);
}

TEST(Batched, AColumnDoesNotDependOnTheOthers) {
  constexpr std::size_t most = 37;
  for (auto& [name, density] : all_targets()) {
    SCOPED_TRACE(name);
    Density model = density;
    Block expected(model.dimension(), most);
    for (std::size_t c = 0; c < most; ++c) model.evaluate_batch(expected.part(c, 1));
    for (const std::size_t count : {2U, 4U, 5U, 8U, 9U, 16U, 17U, 37U}) {
      for (const std::size_t first : {std::size_t{0}, most - count}) {
        Block block(model.dimension(), most);
        model.evaluate_batch(block.part(first, count));
        for (std::size_t c = first; c < first + count; ++c) {
          EXPECT_EQ(block.answer(c), expected.answer(c)) << count << " columns from " << first;
        }
      }
    }
  }
}

TEST(Batched, AColumnThatIsNotFiniteHarmsNoOther) {
  for (auto& [name, density] : all_targets()) {
    SCOPED_TRACE(name);
    Density model = density;
    Block expected(model.dimension(), 9);
    model.evaluate_batch(expected.part(0, 9));
    Block block(model.dimension(), 9);
    block.positions[3 * block.stride] = std::numeric_limits<double>::quiet_NaN();
    block.positions[4 * block.stride] = 1e308;
    model.evaluate_batch(block.part(0, 9));
    for (const std::size_t c : {0U, 1U, 2U, 5U, 6U, 7U, 8U}) {
      EXPECT_EQ(block.answer(c), expected.answer(c));
    }
    EXPECT_FALSE(std::isfinite(block.values[3]));
  }
}

TEST(Batched, HasTheSameBitsWithAllInstructions) {
  for (auto& [name, density] : all_targets()) {
    if (!density.is_batched()) continue;
    SCOPED_TRACE(name);
    Density model = density;
    // Registers that are full and not, and as many as there are.
    for (const std::size_t count : {1U, 2U, 3U, 8U, 17U, 32U, 37U}) {
      EXPECT_TRUE(same_bits([&] {
        Block block(model.dimension(), count);
        model.evaluate_batch(block.part(0, count));
        std::vector<double> numbers;
        for (std::size_t c = 0; c < count; ++c) {
          const std::vector<double> answer = block.answer(c);
          numbers.insert(numbers.end(), answer.begin(), answer.end());
        }
        return numbers;
      })) << count
          << " columns";
    }
  }
}

TEST(Batched, QuantitiesHaveTheSameBitsWithAllInstructions) {
  const CoxSettings settings{.size = 7};
  WhitenedCoxProcess process(settings, simulate_cox_counts(settings, 1));
  const std::size_t d = process.dimension();
  const Block block(d, 11);
  std::vector<std::span<const double>> u;
  for (std::size_t c = 0; c < 11; ++c) u.push_back(block.position(c));
  EXPECT_TRUE(same_bits([&] {
    std::vector<double> numbers(11 * d);
    std::vector<std::span<double>> x;
    for (std::size_t c = 0; c < 11; ++c) x.push_back(std::span(numbers).subspan(c * d, d));
    process.evaluate_quantities_batch(u, x);
    return numbers;
  }));
}

/// More rows than factors fit one product of the likelihood.
TEST(Batched, LogisticLikelihoodOfManyRows) {
  Density model =
      LogisticRegression(simulate_logistic_data({.observations = 5003, .predictors = 3}));
  Block block(3, 5);
  model.evaluate_batch(block.part(0, 5));
  std::vector<double> gradient(3);
  for (std::size_t c = 0; c < 5; ++c) {
    const double value = model(block.position(c), gradient);
    EXPECT_NEAR(block.values[c], value, 1e-12 * std::abs(value));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(block.answer(c)[i], gradient[i], 1e-10 * (1 + std::abs(gradient[i])));
    }
  }
}

}  // namespace
}  // namespace rehmc::testing::batched_test
