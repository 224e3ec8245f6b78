// Weighted quantiles against R and by hand.
#include "rehmc/estimate/quantiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::quantiles_test {
namespace {

TEST(EmpiricalDistribution, EqualWeightsGiveTypeSeven) {
  // R: quantile(c(3, 1, 4, 1.5, 9, 2.6), c(0, .1, .25, .5, .77, 1)); the reference file has many
  // more.
  const std::vector<double> values{3, 1, 4, 1.5, 9, 2.6};
  const std::vector<double> probabilities{0, 0.1, 0.25, 0.5, 0.77, 1};
  const std::vector<double> expected{1, 1.25, 1.775, 2.8, 3.85, 9};
  for (const double weight : {1.0, 0.3}) {
    const EmpiricalDistribution distribution(values, std::vector<double>(6, weight));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      EXPECT_NEAR(distribution.quantile(probabilities[i]), expected[i], 1e-14);
    }
  }
}

TEST(EmpiricalDistribution, WeightsGeneraliseTypeSevenContinuously) {
  Stream stream({.seed = 1}, Purpose::test);
  std::vector<double> values(40), weights(40, 1.0);
  for (double& value : values) value = stream.normal();
  const EmpiricalDistribution plain(values);
  // Weights that are equal except for one part in 10^9 take the general path.
  for (std::size_t i = 0; i < 40; ++i) weights[i] += 1e-9 * static_cast<double>(i % 3);
  const EmpiricalDistribution almost(values, weights);
  // Numbers of tiny weight, wherever they lie, change next to nothing; of weight 0, nothing at all.
  auto more = values;
  auto more_weights = weights;
  for (const double outlier : {-100.0, 0.0, 100.0}) {
    more.push_back(outlier);
    more_weights.push_back(1e-10);
    more.push_back(std::nan(""));
    more_weights.push_back(0);
  }
  const EmpiricalDistribution with_outliers(more, more_weights);
  for (double p = 0; p <= 1; p += 0.01) {
    EXPECT_NEAR(almost.quantile(p), plain.quantile(p), 1e-6);
    EXPECT_NEAR(with_outliers.quantile(p), plain.quantile(p), 1e-6);
  }
}

TEST(EmpiricalDistribution, ByHand) {
  // Weights 1/2, 1/4, 1/4: n = 1 / (1/4 + 1/16 + 1/16) = 8/3, a window of width 3/8 that begins at
  // 5/8 p.
  const EmpiricalDistribution distribution({10, 20, 40}, std::vector<double>{4, 2, 2});
  EXPECT_NEAR(distribution.quantile(0), 10, 1e-14);
  EXPECT_NEAR(distribution.quantile(0.2), 10, 1e-14);
  // p = 1/2: from 5/16 to 11/16, of which 3/16 lie on 10 and 3/16 on 20.
  EXPECT_NEAR(distribution.quantile(0.5), 15, 1e-13);
  // p = 1: from 5/8 to 1: 1/8 on 20 and 1/4 on 40.
  EXPECT_NEAR(distribution.quantile(1), (20 + 2 * 40) / 3.0, 1e-13);
}

TEST(EmpiricalDistribution, TiesInfinitiesAndNaN) {
  const EmpiricalDistribution ties({0.1, 0.1, 0.1}, std::vector<double>{0.2, 0.3, 0.7});
  for (const double p : {0.0, 0.3, 0.77, 1.0}) EXPECT_EQ(ties.quantile(p), 0.1);
  const EmpiricalDistribution infinite({-infinity, 1, 2, 3, infinity},
                                       std::vector<double>{1, 2, 2, 2, 1});
  EXPECT_EQ(infinite.quantile(0), -infinity);
  EXPECT_NEAR(infinite.quantile(0.5), 2, 1e-14);
  EXPECT_EQ(infinite.quantile(1), infinity);
  EXPECT_TRUE(std::isnan(EmpiricalDistribution({1, std::nan(""), 2}).quantile(0.5)));
  EXPECT_TRUE(std::isnan(
      EmpiricalDistribution({1, std::nan("")}, std::vector<double>{1, 2}).quantile(0.5)));
}

TEST(EmpiricalDistribution, RejectsInvalidInput) {
  EXPECT_THROW(EmpiricalDistribution({}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{1}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{1, -1}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{1, std::nan("")}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{0, 0}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}).quantile(-0.1), ConfigError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}).quantile(std::nan("")), ConfigError);
}

}  // namespace
}  // namespace rehmc::quantiles_test
