// Which generated quantities are random, by the flow of data and control.
#include "stan/random_quantities.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rehmc::stan::random_quantities_test {
namespace {

using Names = std::set<std::string>;

Names random_in(const std::string& block) {
  return random_quantities(
      "functions { real f_rng(real x) { return normal_rng(x, 1); } real g(real x) { return x; } }\n"
      "parameters { real mu; real<lower=0> s; }\nmodel { mu ~ normal(0, 1); }\n"
      "generated quantities {\n" +
      block + "\n}\n");
}

TEST(RandomQuantities, data_flows_from_calls_that_draw) {
  EXPECT_EQ(random_in("real a = mu + 1; real b = normal_rng(mu, s); real c = b * 2; real d = a;"),
            Names({"b", "c"}));
  EXPECT_EQ(random_in("real a = f_rng(mu); real b = g(mu); real c = g(a);"), Names({"a", "c"}));
  EXPECT_EQ(random_in("vector[3] v; v[1] = mu; v[2] = normal_rng(0, 1); real w = v[1];"),
            Names({"v", "w"}));
  EXPECT_EQ(random_in("real a, b = normal_rng(0, 1), c = fmax(mu, 0);"), Names({"b"}));
  EXPECT_EQ(random_in("real a = 1; a += normal_rng(0, 1); real b = 1; b *= mu;"), Names({"a"}));
  EXPECT_EQ(random_in("tuple(real, real) t = (mu, normal_rng(0, 1)); real u = t.1;"),
            Names({"t", "u"}));
  EXPECT_EQ(random_in("real a; real b; real c; (a, b) = h_rng(mu); c = mu;"), Names({"a", "b"}));
  EXPECT_EQ(random_in("real a = mu; { real b = normal_rng(0, 1); print(b, a == b); }"),
            Names({"b"}));
}

TEST(RandomQuantities, declarations_of_all_kinds) {
  EXPECT_EQ(random_in("array[2, 3] real<lower=0, upper=1> a = rep_array(mu, 2, 3);"
                      "array[5] int<lower=0> y_rep = poisson_rng(rep_vector(s, 5));"
                      "cholesky_factor_corr[2] L; L = diag_matrix(rep_vector(1, 2));"
                      "array[2] tuple(real, int) t;"
                      "simplex[3] p = dirichlet_rng(rep_vector(1, 3));"
                      "real<offset=mu, multiplier=s> z = mu;"),
            Names({"y_rep", "p"}));
}

TEST(RandomQuantities, control_flows_too) {
  const std::string coin = "int k = bernoulli_rng(0.5); real a = 0; real b = 0; real c = 0;";
  EXPECT_EQ(random_in(coin + "if (k == 1) a = mu; else b = mu;"), Names({"k", "a", "b"}));
  EXPECT_EQ(random_in(coin + "if (mu > 0) a = mu; else if (k == 1) { b = mu; }"),
            Names({"k", "b"}));
  EXPECT_EQ(random_in(coin + "for (i in 1 : k) a += mu; while (b < mu) b += 1;"),
            Names({"k", "a", "i"}));
  EXPECT_EQ(random_in(coin + "while (a < k) { a += 1; c = mu; }"), Names({"k", "a", "c"}));
  // Before and after a way out that depends on chance, and only within its loop.
  EXPECT_EQ(random_in(coin + "for (i in 1 : 3) { a += mu; if (k == 1) break; b += mu; } c = mu;"),
            Names({"k", "a", "b"}));
  EXPECT_EQ(random_in(coin + "for (i in 1 : 3) { if (mu > 1) break; b += mu; } c = mu;"),
            Names({"k"}));
  EXPECT_EQ(random_in(coin + "profile(\"k\") { a = mu; }"), Names({"k"}));
}

TEST(RandomQuantities, a_loop_carries_values_back) {
  EXPECT_EQ(random_in("real a = 0; real b = 0; real c = mu;"
                      "for (i in 1 : 9) { a = b; b = normal_rng(0, 1); c += i; }"),
            Names({"a", "b"}));
}

TEST(RandomQuantities, comments_and_strings_are_no_code) {
  EXPECT_EQ(random_in("real a = mu; // = normal_rng(0, 1)\n/* a = f_rng(1); */ print(\"f_rng(\");"),
            Names());
  EXPECT_EQ(random_quantities("parameters { real x; } model { x ~ normal(0, 1); }"), Names());
}

TEST(RandomQuantities, what_is_not_understood_counts_as_random) {
  EXPECT_EQ(random_in("real a = mu; if (a > 0"), Names({"real", "a", "mu", "if"}));
}

}  // namespace
}  // namespace rehmc::stan::random_quantities_test
