// Weights of single leaves.
#include "rehmc/trajectory/weight.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rehmc {
namespace {

TEST(Weight, OfAMultinomialLeafIsItsDensityRelativeToTheStart) {
  for (const double error : {-299.0, -1.5, 0.0, 0.25, 40.0}) {
    EXPECT_EQ(multinomial_weight(error).value, std::exp(-error));
    EXPECT_EQ(multinomial_weight(error).log_scale, 0);
  }
  EXPECT_EQ(multinomial_weight(std::numeric_limits<double>::infinity()).value, 0);
}

TEST(Weight, GetsAScaleOfItsOwnAfterAHugeFall) {
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

}  // namespace
}  // namespace rehmc
