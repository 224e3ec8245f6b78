// Hot loops give the same bits with all vector instructions.
#include "rehmc/core/instructions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/low_rank.hpp"
#include "rehmc/core/products.hpp"
#include "rehmc/core/random.hpp"
#include "tests/core/every_instructions.hpp"

namespace rehmc::instructions_test {
namespace {

using testing::for_all_instructions;
using testing::same_bits;

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  std::vector<double> numbers(count);
  Stream({.seed = seed}, Purpose::test).fill_normal(numbers);
  return numbers;
}

TEST(Instructions, ThoseOfTheEnvironmentAreUsed) {
  const char* const asked = std::getenv("REHMC_INSTRUCTIONS");
  if (asked != nullptr) {
    EXPECT_EQ(describe(instructions()), asked);
  }
  EXPECT_EQ(instructions(), available_instructions());
}

TEST(Instructions, RandomNumbersHaveTheSameBits) {
  for (const std::size_t count : {1, 15, 16, 17, 250, 1003}) {
    EXPECT_TRUE(same_bits([&] { return normals(count, 3); })) << count << " numbers";
  }
}

TEST(Instructions, LaneSumsHaveTheSameBits) {
  for (const std::size_t count : {0, 1, 7, 8, 9, 250, 4003}) {
    const std::vector<double> x = normals(count, 5);
    const double* const numbers = x.data();
    const auto sums = [=] {
      return hot_loop([=] {
        return lane_sums<2>(count, [=](std::size_t i) {
          return std::array<double, 2>{numbers[i] * numbers[i], std::abs(numbers[i])};
        });
      });
    };
    EXPECT_TRUE(same_bits([&] {
      const auto both = sums();
      return std::vector<double>(both.begin(), both.end());
    })) << count
        << " terms";
    long double squares = 0;
    for (const double value : x) squares += static_cast<long double>(value) * value;
    EXPECT_NEAR(sums()[0], static_cast<double>(squares), 1e-15 * static_cast<double>(count + 1));
  }
}

struct Shape {
  std::size_t rows;
  std::size_t depth;
  std::size_t columns;
};
constexpr Shape shapes[] = {{1, 1, 1},   {3, 5, 2},     {24, 8, 8},     {25, 255, 9},
                            {7, 256, 3}, {50, 257, 40}, {31, 1000, 33}, {300, 20, 260}};

TEST(Products, AreThoseOfTheMatrices) {
  for (const Shape& shape : shapes) {
    const std::vector<double> a = normals(shape.rows * shape.depth, 1);
    const std::vector<double> b = normals(shape.depth * shape.columns, 2);
    const std::vector<double> before = normals(shape.rows * shape.columns, 3);
    // Both by columns, then both by rows.
    for (const bool by_columns : {true, false}) {
      const MatrixView left{a.data(), shape.rows, shape.depth, by_columns ? 1 : shape.depth,
                            by_columns ? shape.rows : 1};
      const MatrixView right{b.data(), shape.depth, shape.columns, by_columns ? 1 : shape.columns,
                             by_columns ? shape.depth : 1};
      std::vector<double> result = before;
      add_product(-2, left, right, {result.data(), shape.rows});
      for (std::size_t i = 0; i < shape.rows; ++i) {
        for (std::size_t j = 0; j < shape.columns; ++j) {
          long double sum = 0;
          double size = 0;
          for (std::size_t k = 0; k < shape.depth; ++k) {
            const double term = a[i * left.row_step + k * left.column_step] *
                                b[k * right.row_step + j * right.column_step];
            sum += term;
            size += std::abs(term);
          }
          const double start = before[j * shape.rows + i];
          const double expected = static_cast<double>(start - 2 * sum);
          // Each of at most depth + 1 roundings is half a unit of the last place of what is summed.
          EXPECT_NEAR(result[j * shape.rows + i], expected,
                      1.2e-16 * static_cast<double>(shape.depth + 2) * (2 * size + std::abs(start)))
              << shape.rows << " x " << shape.depth << " x " << shape.columns << ": " << i << ", "
              << j;
        }
      }
    }
  }
}

TEST(Products, LowerPartsAreThoseOfWholeOnes) {
  const std::size_t d = 61;
  const std::vector<double> a = normals(100 * d, 4);
  const MatrixView columns{a.data(), 100, d, 1, 100};
  std::vector<double> whole(d * d, 0.0);
  std::vector<double> lower(d * d, 0.0);
  add_product(1, columns.transposed(), columns, {whole.data(), d});
  add_product(1, columns.transposed(), columns, {lower.data(), d}, ProductPart::lower);
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t i = j; i < d; ++i) EXPECT_EQ(lower[j * d + i], whole[j * d + i]);
  }
}

TEST(Products, HaveTheSameBitsWithAllInstructions) {
  for (const Shape& shape : shapes) {
    const std::vector<double> a = normals(shape.rows * shape.depth, 1);
    const std::vector<double> b = normals(shape.depth * shape.columns, 2);
    EXPECT_TRUE(same_bits([&] {
      std::vector<double> result(shape.rows * shape.columns, 0.0);
      add_product(1, {a.data(), shape.rows, shape.depth, 1, shape.rows},
                  {b.data(), shape.depth, shape.columns, 1, shape.depth},
                  {result.data(), shape.rows});
      return result;
    })) << shape.rows
        << " x " << shape.depth << " x " << shape.columns;
  }
}

TEST(Products, OfSquareMatricesWithVectors) {
  for (const std::size_t d : {1, 3, 4, 10, 67}) {
    const std::vector<double> m = normals(d * d, 1);
    const std::vector<double> x = normals(d, 2);
    const auto product = [&] {
      std::vector<double> result(d);
      multiply_square(m.data(), d, x.data(), result.data());
      return result;
    };
    EXPECT_TRUE(same_bits(product)) << d;
    for (std::size_t i = 0; i < d; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < d; ++j) sum += m[j * d + i] * x[j];
      EXPECT_EQ(product()[i], sum) << d;
    }
  }
}

TEST(Instructions, LowRankOperatorsHaveTheSameBits) {
  // Householder's reflection has orthonormal columns.
  const std::size_t d = 37;
  std::vector<double> v = normals(d, 7);
  double square = 0;
  for (const double entry : v) square += entry * entry;
  std::vector<double> directions;
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t i = 0; i < d; ++i) {
      directions.push_back((i == j ? 1 : 0) - 2 * v[i] * v[j] / square);
    }
  }
  const DiagonalPlusLowRank matrix(std::vector<double>(d, 1.5), directions, {4, 0.25, 9});
  const std::vector<double> x = normals(d, 8);
  EXPECT_TRUE(same_bits([&] {
    std::vector<double> result(d);
    matrix.apply(x, result);
    return result;
  }));
}

}  // namespace
}  // namespace rehmc::instructions_test
