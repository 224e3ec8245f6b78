// Condition numbers of metrics by power iteration, against those that are known.
#include "rehmc/adapt/warmup_story.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace rehmc::warmup_story_test {
namespace {

std::shared_ptr<const Metric> diagonal(const std::vector<double>& variances) {
  return make_diagonal_metric(variances);
}

/// Variances 1 to `condition` in directions turned by reflection: (I - 2 u u') D (I - 2 u u').
std::shared_ptr<const Metric> turned(std::size_t d, double condition) {
  const double entry = 1 / std::sqrt(static_cast<double>(d));
  std::vector<double> matrix(d * d);
  const auto reflection = [&](std::size_t i, std::size_t k) {
    return (i == k ? 1.0 : 0.0) - 2 * entry * entry;
  };
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = 0; k < d; ++k) {
        const double share = static_cast<double>(k) / static_cast<double>(d - 1);
        matrix[i * d + j] += reflection(i, k) * std::pow(condition, share) * reflection(k, j);
      }
    }
  }
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[i * d + j] = matrix[j * d + i];
  }
  return make_dense_metric(d, matrix);
}

TEST(ConditionNumber, IsExactForDiagonalMetrics) {
  EXPECT_DOUBLE_EQ(condition_number(*diagonal({4, 1, 100}), *make_unit_metric(3)), 100);
  EXPECT_DOUBLE_EQ(condition_number(*diagonal({4, 1, 100}), *diagonal({4, 2, 50})), 4);
  EXPECT_DOUBLE_EQ(condition_number(*make_unit_metric(3), *diagonal({4, 1, 100})), 100);
}

TEST(ConditionNumber, IsRightToAFewPercentForOthers) {
  for (const double condition : {1.5, 30.0, 1e4, 1e8}) {
    const double found = condition_number(*turned(12, condition), *make_unit_metric(12));
    EXPECT_NEAR(found / condition, 1, 0.05) << condition;
    EXPECT_NEAR(condition_number(*turned(12, condition), *turned(12, condition)), 1, 1e-4);
  }
  const DiagonalPlusLowRank wide({3, 3, 3, 3}, {0.5, 0.5, -0.5, 0.5}, {25});
  EXPECT_NEAR(condition_number(*make_low_rank_metric(wide), *make_unit_metric(4)), 25, 0.5);
}

}  // namespace
}  // namespace rehmc::warmup_story_test
