// The vectorised exponentials and logarithms against the standard library's in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/fast_math.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::fast_math_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double relative_error(double found, long double truth) {
  return static_cast<double>(std::abs((found - truth) / truth));
}

/// Numbers whose logarithms are spread evenly over the given range.
std::vector<double> spread(double log_least, double log_most) {
  Stream stream({.seed = 1}, Purpose::test);
  std::vector<double> values(100000);
  for (double& value : values) {
    value = std::exp(log_least + (log_most - log_least) * stream.uniform());
  }
  return values;
}

TEST(FastMath, ExponentialIsAccurate) {
  double worst = 0;
  for (const double magnitude : spread(-40, std::log(706.9))) {
    for (const double x : {magnitude, -magnitude}) {
      worst = std::max(worst, relative_error(fast_exp(x), std::exp(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, 5e-16);
}

TEST(FastMath, ExponentialAtTheEnds) {
  EXPECT_EQ(fast_exp(0), 1);
  EXPECT_EQ(fast_exp(-infinity), 0);
  EXPECT_EQ(fast_exp(-708), 0);
  EXPECT_NEAR(fast_exp(-707) / std::exp(-707.0), 1, 1e-15);
  EXPECT_NEAR(fast_exp(709.78) / std::exp(709.78), 1, 1e-15);
  EXPECT_EQ(fast_exp(709.79), infinity);
  EXPECT_EQ(fast_exp(infinity), infinity);
  EXPECT_TRUE(std::isnan(fast_exp(not_a_number)));
}

TEST(FastMath, LogarithmIsAccurate) {
  double worst = 0;
  double worst_near_one = 0;
  for (const double x : spread(-708, 709)) {
    worst = std::max(worst, relative_error(fast_log(x), std::log(static_cast<long double>(x))));
  }
  for (const double x : spread(-1, 1)) {
    const long double truth = std::log(static_cast<long double>(x));
    worst_near_one = std::max(worst_near_one, static_cast<double>(std::abs(fast_log(x) - truth)));
  }
  EXPECT_LT(worst, 5e-16);
  EXPECT_LT(worst_near_one, 2.5e-16);
}

TEST(FastMath, LogarithmOfOnePlusIsAccurateDownToTheSmallest) {
  double worst = 0;
  for (const double x : spread(-700, 700)) {
    worst = std::max(worst, relative_error(fast_log1p(x), std::log1p(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 6e-16);
  EXPECT_EQ(fast_log1p(0), 0);
}

TEST(FastMath, LogarithmsKeepInfinityAndNaN) {
  EXPECT_EQ(fast_log(1), 0);
  EXPECT_EQ(fast_log(infinity), infinity);
  EXPECT_EQ(fast_log1p(infinity), infinity);
  EXPECT_TRUE(std::isnan(fast_log(not_a_number)));
  EXPECT_TRUE(std::isnan(fast_log1p(not_a_number)));
}

// In a loop the compiler may fuse other multiplications and additions; nothing else may differ.
TEST(FastMath, VectorisedLoopsAgreeWithSingleCalls) {
  const std::vector<double> x = spread(-30, 6);
  std::vector<double> exponentials(x.size());
  std::vector<double> logarithms(x.size());
#pragma omp simd
  for (std::size_t i = 0; i < x.size(); ++i) {
    exponentials[i] = fast_exp(x[i]);
    logarithms[i] = fast_log1p(x[i]);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_DOUBLE_EQ(exponentials[i], fast_exp(x[i]));
    EXPECT_DOUBLE_EQ(logarithms[i], fast_log1p(x[i]));
  }
}

}  // namespace
}  // namespace rehmc::fast_math_test
