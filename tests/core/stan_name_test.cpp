// Names as Stan's users write them: indices, tuples, complex numbers; patterns in both spellings.
#include "rehmc/core/stan_name.hpp"

#include <gtest/gtest.h>

namespace rehmc::stan_name_test {
namespace {

TEST(StanName, WritesIndicesInBrackets) {
  EXPECT_EQ(stan_name("mu"), "mu");
  EXPECT_EQ(stan_name("theta.1"), "theta[1]");
  EXPECT_EQ(stan_name("L.2.10"), "L[2,10]");
  EXPECT_EQ(stan_name("t:1"), "t.1");
  EXPECT_EQ(stan_name("t.2:1.3"), "t[2].1[3]");
  EXPECT_EQ(stan_name("z.1.real"), "z[1].real");
  EXPECT_EQ(stan_name("z.imag"), "z.imag");
  EXPECT_EQ(stan_name(""), "");
  EXPECT_EQ(variable_of("L[2,10]"), "L");
  EXPECT_EQ(variable_of("mu"), "mu");
  EXPECT_EQ(csv_variable("L.2.10"), "L");
  EXPECT_EQ(csv_variable("t:1.2"), "t");
  EXPECT_EQ(csv_variable("mu"), "mu");
}

TEST(StanName, PatternsMatchBothSpellings) {
  for (const char* const pattern :
       {"theta.1", "theta[1]", "theta", "theta.*", "theta[*]", "th*", "theta.[12]", "theta.?"}) {
    EXPECT_TRUE(matches_name(pattern, "theta.1")) << pattern;
  }
  for (const char* const pattern : {"theta[2]", "thet", "theta[", "mu", "heta", "theta[12]", ""}) {
    EXPECT_FALSE(matches_name(pattern, "theta.1")) << pattern;
  }
  EXPECT_TRUE(matches_name("L[2,*]", "L.2.10"));
  EXPECT_FALSE(matches_name("L[1,*]", "L.2.10"));
  EXPECT_FALSE(matches_name("theta", "theta_trans.1"));
  EXPECT_TRUE(matches_name("t", "t:1"));
}

}  // namespace
}  // namespace rehmc::stan_name_test
