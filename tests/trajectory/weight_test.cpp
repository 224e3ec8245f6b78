// Weights of single leaves.
#include "rehmc/trajectory/weight.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rehmc::weight_test {
namespace {

TEST(Weight, OfAMultinomialLeafIsItsDensityRelativeToTheStart) {
  for (const double error : {-299.0, -1.5, 0.0, 0.25, 40.0}) {
    EXPECT_EQ(multinomial_weight(error).value, std::exp(-error));
    EXPECT_EQ(multinomial_weight(error).log_scale, 0);
  }
  EXPECT_EQ(multinomial_weight(std::numeric_limits<double>::infinity()).value, 0);
}

TEST(Weight, GetsItsOwnScaleAfterAHugeFall) {
  const Weight weight = multinomial_weight(-2000);
  EXPECT_EQ(weight.value, 1);
  EXPECT_EQ(weight.log_scale, 2000);
  EXPECT_EQ(multinomial_weight(-log_weight_limit).log_scale, 0);
  EXPECT_EQ(multinomial_weight(std::nextafter(-log_weight_limit, -1e9)).value, 1);
}

TEST(Weight, OfASliceLeafIsOneOnTheSliceAndAboveAndZeroBelow) {
  EXPECT_EQ(slice_weight(0.7, -0.7).value, 1);
  EXPECT_EQ(slice_weight(std::nextafter(0.7, 1), -0.7).value, 0);
  EXPECT_EQ(slice_weight(-5, -0.7).value, 1);
  EXPECT_EQ(slice_weight(0, -1e-300).value, 1);  // the start itself, whatever the slice
  EXPECT_EQ(slice_weight(-5000, -0.7).log_scale, 0);
}

/// Weights in units of a common scale, with the sum of them.
struct ScaledSum {
  WeightScale scale;
  double sum = 0;
  std::vector<double> factors;

  void add(const Weight& weight) {
    sum += scale.in_units(weight, [&](double factor) {
      factors.push_back(factor);
      sum *= factor;
    });
  }
};

TEST(WeightScale, LeavesWeightsOfItsOwnScaleAlone) {
  ScaledSum weights;
  weights.add({2.5, 0});
  weights.add({0.5, 0});
  EXPECT_EQ(weights.sum, 3);
  EXPECT_TRUE(weights.factors.empty());
}

TEST(WeightScale, GrowsWithALargerWeightAndRescalesWhatWasThere) {
  ScaledSum weights;
  weights.add({3, 0});
  weights.add({1, 301});
  ASSERT_EQ(weights.factors.size(), 1U);
  EXPECT_EQ(weights.factors[0], std::exp(-301.0));
  EXPECT_EQ(weights.sum, 3 * std::exp(-301.0) + 1);
  weights.add({1, 302});
  EXPECT_DOUBLE_EQ(weights.sum, std::exp(-1.0) + 1);
}

TEST(WeightScale, NeverShrinks) {
  ScaledSum weights;
  weights.add({1, 400});
  weights.add({2, 399});
  weights.add({7, 0});
  EXPECT_EQ(weights.factors.size(), 1U);
  EXPECT_DOUBLE_EQ(weights.sum, 1 + 2 * std::exp(-1.0));
}

TEST(WeightScale, MergesIntoTheLargerOfTwo) {
  for (const bool ours_is_larger : {false, true}) {
    ScaledSum small;
    ScaledSum large;
    small.add({4, 0});
    large.add({1, 310});
    ScaledSum& ours = ours_is_larger ? large : small;
    const ScaledSum& theirs = ours_is_larger ? small : large;
    const auto [our_factor, their_factor] = ours.scale.merge(theirs.scale);
    EXPECT_EQ(ours_is_larger ? our_factor : their_factor, 1);
    EXPECT_EQ(ours_is_larger ? their_factor : our_factor, std::exp(-310.0));
    ours.sum = our_factor * ours.sum + their_factor * theirs.sum;
    ours.add({1, 310});  // it is in units of the larger scale now
    EXPECT_DOUBLE_EQ(ours.sum, 2 + 4 * std::exp(-310.0));
  }
}

}  // namespace
}  // namespace rehmc::weight_test
