// Gradients of all built-in targets against finite differences, and detection of a wrong one.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/model/check_gradient.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::gradients_test {
namespace {

/// Uniform on (-2, 2), where chains start, or normal with scale 0.3 to 3, where they go.
std::vector<double> random_point(std::size_t dimension, std::uint64_t iteration) {
  Stream stream({.seed = 3, .iteration = iteration}, Purpose::test);
  std::vector<double> x(dimension);
  const double scale = 0.3 * std::pow(10, stream.uniform());
  for (double& entry : x) {
    entry = iteration % 2 == 0 ? 4 * stream.uniform() - 2 : scale * stream.normal();
  }
  return x;
}

TEST(Gradients, MatchDifferencesAtManyPoints) {
  for (const auto& [name, density] : all_targets()) {
    for (std::uint64_t k = 0; k < 200; ++k) {
      for (const DerivativeCheck& entry :
           check_gradient(density, random_point(density.dimension(), k))) {
        EXPECT_TRUE(entry.ok) << name << ", " << entry.name << ", point " << k << ": analytic "
                              << entry.analytic << ", numeric " << entry.numeric << ", tolerance "
                              << entry.tolerance;
        // The differences must be precise enough to prove something.
        EXPECT_LT(entry.tolerance, 1e-4 * (std::abs(entry.analytic) + 1))
            << name << ", point " << k;
      }
    }
  }
}

TEST(Gradients, MatchDifferencesInAThousandDimensions) {
  std::vector<double> scales(1000);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    scales[i] = std::pow(10, -2 + 0.003 * static_cast<double>(i));
  }
  const Density density = DiagonalNormal(scales);
  for (const DerivativeCheck& entry : check_gradient(density, random_point(1000, 2))) {
    EXPECT_TRUE(entry.ok) << entry.name;
  }
}

/// A target with one entry of its gradient wrong by 0.1%.
struct SlightlyWrong {
  Density right;
  std::size_t wrong_coordinate;

  double operator()(std::span<const double> x, std::span<double> gradient) {
    const double value = right(x, gradient);
    gradient[wrong_coordinate] *= 1.001;
    return value;
  }
  std::size_t dimension() const { return right.dimension(); }
};

// An entry that happens to be nearly zero hides an error of 0.1% below any tolerance: hence "nearly
// all", and no false alarms at all.
TEST(Gradients, AnErrorOfOnePerMilleInOneEntryIsFound) {
  for (const auto& [name, density] : all_targets()) {
    int found = 0;
    int tried = 0;
    for (std::size_t wrong = 0; wrong < density.dimension(); ++wrong) {
      for (std::uint64_t k = 0; k < 10; ++k) {
        const auto table =
            check_gradient(SlightlyWrong{density, wrong}, random_point(density.dimension(), k));
        for (std::size_t i = 0; i < table.size(); ++i) {
          EXPECT_TRUE(i == wrong || table[i].ok) << name << ", " << table[i].name;
        }
        found += table[wrong].ok ? 0 : 1;
        ++tried;
      }
    }
    EXPECT_GE(found, 0.99 * tried) << name;
  }
}

}  // namespace
}  // namespace rehmc::testing::gradients_test
