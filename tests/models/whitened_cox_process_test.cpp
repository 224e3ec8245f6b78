// The whitened Cox process against the plain one: the same density, with the unit metric.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "models/cox_process.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::testing::whitened_cox_process_test {
namespace {

/// G^{-1} = A A', and the density is that of x.
TEST(WhitenedCoxProcess, IsTheProcessInOtherCoordinates) {
  for (const std::size_t size : {2UL, 3UL, 5UL, 8UL}) {
    SCOPED_TRACE(size);
    const CoxSettings settings{
        .size = size, .length_scale = 0.4, .variance = 1.3, .expected_points = 40};
    const std::vector<std::uint64_t> counts = simulate_cox_counts(settings, 3);
    CoxProcess process(settings, counts);
    WhitenedCoxProcess whitened(settings, counts);
    const std::size_t d = size * size;
    ASSERT_EQ(whitened.dimension(), d);
    EXPECT_EQ(names_of(whitened.quantities()), process.names());

    // The columns of A are the quantities of unit vectors minus those of zero.
    std::vector<std::vector<double>> units(d + 1, std::vector<double>(d, 0.0));
    for (std::size_t j = 0; j < d; ++j) units[j][j] = 1;
    std::vector<std::vector<double>> root(d + 1, std::vector<double>(d));
    const std::vector<std::span<const double>> from(units.begin(), units.end());
    const std::vector<std::span<double>> to(root.begin(), root.end());
    whitened.evaluate_quantities_batch(from, to);
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t i = 0; i < d; ++i) root[j][i] -= root[d][i];
    }
    const std::vector<double> inverse = process.inverse_mass_matrix();
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t k = 0; k < d; ++k) {
        double product = 0;
        for (std::size_t j = 0; j < d; ++j) product += root[j][i] * root[j][k];
        EXPECT_NEAR(product, inverse[i * d + k], 1e-12);
      }
    }

    double constant = 0;
    for (std::uint64_t k = 0; k < 5; ++k) {
      std::vector<double> u(d);
      Stream({.seed = 4, .iteration = k}, Purpose::test).fill_normal(u);
      std::vector<double> x(d);
      whitened.evaluate_quantities(u, x, nullptr);
      std::vector<double> gradient(d);
      std::vector<double> slope(d);
      const double value = whitened(u, gradient);
      const double expected = process(x, slope);
      if (k == 0) constant = value - expected;
      EXPECT_NEAR(value - expected, constant, 1e-10);
      for (std::size_t j = 0; j < d; ++j) {
        double pulled = 0;
        for (std::size_t i = 0; i < d; ++i) pulled += root[j][i] * slope[i];
        EXPECT_NEAR(gradient[j], pulled, 1e-10);
      }
    }
  }
}

}  // namespace
}  // namespace rehmc::testing::whitened_cox_process_test
