// Quantiles of the beta, F and Student distributions, against integrated densities.
#include "rehmc/estimate/distributions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rehmc::distributions_test {
namespace {

TEST(Distributions, BetaQuantiles) {
  EXPECT_NEAR(beta_quantile(0.1586553, 51, 51), 0.45049322993, 1e-10);
  EXPECT_NEAR(beta_quantile(0.8413447, 91, 11), 0.92252676542, 1e-10);
  // x^2 and 1 - (1 - x)^3.
  EXPECT_NEAR(beta_quantile(0.3, 2, 1), std::sqrt(0.3), 1e-14);
  EXPECT_NEAR(beta_quantile(0.3, 1, 3), 1 - std::cbrt(0.7), 1e-14);
  EXPECT_EQ(beta_quantile(0, 3, 4), 0);
  EXPECT_EQ(beta_quantile(1, 3, 4), 1);
}

TEST(Distributions, FQuantiles) {
  // With 1 degree of freedom above, the square of Student's t.
  for (const double p : {0.2, 1e-3, 1e-7}) {
    const double t = two_sided_student_quantile(p, 21);
    EXPECT_NEAR(upper_f_quantile(p, 1, 21), t * t, 1e-9 * t * t);
  }
  // With 2 above and n below: P(F > x) = (1 + 2 x / n)^(-n / 2).
  EXPECT_NEAR(upper_f_quantile(1e-4, 2, 10), 5 * (std::pow(1e-4, -0.2) - 1), 1e-10);
}

TEST(Distributions, StudentQuantiles) {
  EXPECT_NEAR(two_sided_student_quantile(0.05, 5), 2.57058183564, 1e-10);
  EXPECT_NEAR(two_sided_student_quantile(1e-4, 21), 4.78387711644, 1e-9);
  // Cauchy: tan(pi / 2 (1 - p)), also far out.
  EXPECT_NEAR(two_sided_student_quantile(1e-3, 1) * std::tan(std::acos(-1) / 2 * 1e-3), 1, 1e-12);
  // Two degrees of freedom: t^2 = 2 (1 - p)^2 / (1 - (1 - p)^2).
  EXPECT_NEAR(two_sided_student_quantile(0.2, 2), std::sqrt(2 * 0.64 / 0.36), 1e-12);
}

}  // namespace
}  // namespace rehmc::distributions_test
