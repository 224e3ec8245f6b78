// Tests the weights below thresholds against sums one by one.
#include "rehmc/estimate/shares_below.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "rehmc/core/random.hpp"

namespace rehmc::shares_below_test {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(SharesBelow, AreSumsOfTheWeightsOfEveryDraw) {
  Stream stream({.seed = 1}, Purpose::test);
  std::vector<double> states;
  std::vector<double> weights;
  std::vector<std::size_t> ends;
  for (std::size_t n = 0; n < 50; ++n) {
    for (std::uint64_t k = 0; k < n % 7; ++k) {  // some draws have no states
      states.push_back(stream.normal());
      weights.push_back(1 + 0.1 * stream.normal());
    }
    ends.push_back(states.size());
  }
  states[3] = std::numeric_limits<double>::quiet_NaN();  // is below nothing
  // More than any register holds; some are states themselves.
  std::vector<double> thresholds{-infinity, infinity, states[5], states[60]};
  for (int t = 0; t < 9; ++t) thresholds.push_back(-1.5 + 0.4 * t);
  const std::vector<double> shares = shares_below(states, weights, ends, thresholds);
  ASSERT_EQ(shares.size(), thresholds.size() * ends.size());
  for (std::size_t t = 0; t < thresholds.size(); ++t) {
    std::size_t k = 0;
    for (std::size_t n = 0; n < ends.size(); ++n) {
      double sum = 0;
      for (; k < ends[n]; ++k) sum += states[k] <= thresholds[t] ? weights[k] : 0;
      EXPECT_EQ(shares[t * ends.size() + n], sum);
    }
  }
  EXPECT_TRUE(shares_below(states, weights, ends, {}).empty());
}

}  // namespace rehmc::shares_below_test
