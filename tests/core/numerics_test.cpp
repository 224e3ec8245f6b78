// Numerics against values computed with 60 digits (mpmath), and at infinities.
#include "rehmc/core/numerics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rehmc::numerics_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  double argument;
  double value;
};

void expect_relative(double found, double wanted, double tolerance) {
  EXPECT_LE(std::abs(found - wanted), tolerance * std::abs(wanted))
      << "found " << found << ", wanted " << wanted;
}

TEST(LogSumExp, agrees_with_high_precision) {
  std::vector<double> ramp;
  for (int i = 0; i < 50; ++i) ramp.push_back(-0.5 * i);
  expect_relative(log_sum_exp(ramp), 0.9327521295533007, 1e-15);

  std::vector<double> offset;
  for (int i = 0; i < 100; ++i) offset.push_back(-1e4 + (i * i % 17) * 0.1);
  expect_relative(log_sum_exp(offset), -9994.429011166194, 1e-15);

  // Each small term alone would be lost next to the 1.
  std::vector<double> small(1001, -40);
  small[500] = 0;
  expect_relative(log_sum_exp(small), 4.24835425529158e-15, 1e-14);

  EXPECT_EQ(log_sum_exp(std::vector<double>{-745.5}), -745.5);
}

TEST(LogSumExp, infinities_give_the_limit_and_nan_stays) {
  EXPECT_EQ(log_sum_exp({}), -infinity);
  EXPECT_EQ(log_sum_exp(std::vector{-infinity, -infinity}), -infinity);
  EXPECT_EQ(log_sum_exp(std::vector{-infinity, 2.5, -infinity}), 2.5);
  EXPECT_EQ(log_sum_exp(std::vector{-infinity, 2.5, infinity}), infinity);
  EXPECT_EQ(log_sum_exp(std::vector{infinity, infinity}), infinity);
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector{0.0, nan})));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector{nan, infinity})));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector{infinity, nan})));
}

TEST(CompensatedSum, keeps_what_a_plain_sum_loses) {
  CompensatedSum sum;
  double plain = 0;
  for (const double term : {1.0, 1e100, 1.0, -1e100}) {
    sum.add(term);
    plain += term;
  }
  EXPECT_EQ(sum.value(), 2);
  EXPECT_EQ(plain, 0);

  CompensatedSum tenths;
  plain = 0;
  for (int i = 0; i < 10'000'000; ++i) {
    tenths.add(0.1);
    plain += 0.1;
  }
  EXPECT_EQ(tenths.value(), 1'000'000);
  EXPECT_NE(plain, 1'000'000);
}

TEST(CompensatedSum, infinite_terms_give_what_a_plain_sum_gives) {
  EXPECT_EQ(CompensatedSum{}.value(), 0);
  CompensatedSum sum;
  sum.add(1);
  sum.add(-infinity);
  EXPECT_EQ(sum.value(), -infinity);
  sum.add(5);
  EXPECT_EQ(sum.value(), -infinity);
  sum.add(infinity);
  EXPECT_TRUE(std::isnan(sum.value()));

  CompensatedSum overflow;
  overflow.add(1e308);
  overflow.add(1e308);
  EXPECT_EQ(overflow.value(), infinity);
}

TEST(NormalCdf, agrees_with_high_precision) {
  constexpr Case lower_tail[] = {{-37, 5.725571222524577e-300}, {-30, 4.906713927148187e-198},
                                 {-20, 2.7536241186062337e-89}, {-10, 7.619853024160525e-24},
                                 {-8.3, 5.205569744890254e-17}, {-5, 2.866515718791939e-07},
                                 {-3, 0.0013498980316300946},   {-2, 0.02275013194817921}};
  // The error of the argument, half a unit in the last place of x / sqrt(2), costs x^2 times as
  // much.
  for (const auto& [x, p] : lower_tail) expect_relative(normal_cdf(x), p, 3e-16 * (1 + x * x));
  constexpr Case elsewhere[] = {{-1, 0.15865525393145705},
                                {-0.5, 0.3085375387259869},
                                {-1e-10, 0.49999999996010575},
                                {0, 0.5},
                                {1e-300, 0.5},
                                {0.1, 0.539827837277029},
                                {1, 0.8413447460685429},
                                {2, 0.9772498680518208},
                                {3, 0.9986501019683699},
                                {5, 0.9999997133484281},
                                {8, 0.9999999999999993},
                                {40, 1.0}};
  for (const auto& [x, p] : elsewhere) expect_relative(normal_cdf(x), p, 1e-15);
}

TEST(NormalCdf, reaches_0_and_1_at_the_infinities) {
  EXPECT_EQ(normal_cdf(-infinity), 0);
  EXPECT_EQ(normal_cdf(infinity), 1);
  EXPECT_TRUE(std::isnan(normal_cdf(nan)));
}

TEST(NormalQuantile, agrees_with_high_precision) {
  constexpr Case cases[] = {
      {5e-324, -38.467405617144344},      {1e-320, -38.26912534303265},
      {1e-308, -37.54067492154594},       {1e-300, -37.0470962993612},
      {1e-100, -21.273453560965326},      {1e-50, -14.933337534788489},
      {1e-20, -9.262340089798407},        {1e-16, -8.222082216130435},
      {1e-12, -7.034483825301132},        {1.3e-11, -6.667611456510741},
      {1.4e-11, -6.656723091518184},      {1e-10, -6.361340902404057},
      {1e-06, -4.753424308822899},        {0.0001, -3.7190164854556804},
      {0.001, -3.0902323061678136},       {0.01, -2.326347874040841},
      {0.025, -1.9599639845400543},       {0.05, -1.6448536269514726},
      {0.0749, -1.4402382675279637},      {0.0751, -1.43882539275254},
      {0.1, -1.2815515655446004},         {0.2, -0.8416212335729142},
      {0.3, -0.5244005127080408},         {0.4, -0.2533471031357997},
      {0.49, -0.025068908258711057},      {0.4999999, -2.5066282747031063e-07},
      {0.500001, 2.5066282747057052e-06}, {0.6, 0.2533471031357997},
      {0.75, 0.6744897501960817},         {0.9, 1.2815515655446006},
      {0.9249, 1.4388253927525403},       {0.9251, 1.440238267527964},
      {0.95, 1.6448536269514722},         {0.975, 1.9599639845400538},
      {0.99, 2.3263478740408408},         {0.999, 3.090232306167813},
      {0.999999, 4.753424308817087},      {0.9999999999, 6.361340889697422},
      {1 - 0x1p-53, 8.209536151601387}};
  for (const auto& [p, x] : cases) expect_relative(normal_quantile(p), x, 1e-15);
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(NormalQuantile, is_infinite_at_the_ends_and_nan_outside) {
  EXPECT_EQ(normal_quantile(0), -infinity);
  EXPECT_EQ(normal_quantile(1), infinity);
  EXPECT_TRUE(std::isnan(normal_quantile(-1e-300)));
  EXPECT_TRUE(std::isnan(normal_quantile(1.0000001)));
  EXPECT_TRUE(std::isnan(normal_quantile(nan)));
}

TEST(NormalQuantile, inverts_the_cdf_across_the_seams) {
  for (double x = -37; x <= 3; x += 0.0625) {
    // d log cdf / dx is about -x in the tail: an error of the cdf costs at most its own size / |x|.
    EXPECT_NEAR(normal_quantile(normal_cdf(x)), x, 5e-15 * (1 + std::abs(x))) << x;
  }
}

TEST(Median, IsTheMiddleNumberOrTheMeanOfTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median({1, nan_value, 2})));
}

}  // namespace
}  // namespace rehmc::numerics_test
