// Excursions that a run has not seen: what control variates leave of them, and what they add.
#include "rehmc/estimate/rare_events.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rehmc::rare_events_test {
namespace {

/// Four chains of twelve draws with a mean of 0, so short that every draw is an excursion.
ChainTable table_with(const std::vector<double>& large) {
  ChainTable table{4, 12, {}};
  for (std::size_t n = 0; n < 48; ++n) table.values.push_back(n % 2 == 0 ? 1 : -1);
  for (std::size_t k = 0; k < large.size(); ++k) table.values[7 * k + 3] = large[k];
  return table;
}

/// That of independent draws.
double squared_error_of(const ChainTable& table) {
  double power = 0;
  for (const double value : table.values) power += value * value;
  return power / std::pow(static_cast<double>(table.values.size()), 2);
}

TEST(UnseenRemainder, IsThatOfTheWorstExplainedOfTheLargestExcursions) {
  const ChainTable target = table_with({10, -9, 8, -7, 6, 5});
  const double squared_error = squared_error_of(target);
  // The sixth largest does not count, nor do smaller ones, of which nothing is explained.
  const ChainTable left = table_with({1, -3, 2, -0.5, 0, 5});
  const double worst = 3.0 / 9;
  EXPECT_DOUBLE_EQ(unseen_remainder(target, squared_error, left, {2, 0}),
                   2 * std::pow(10 * worst, 2));
  EXPECT_DOUBLE_EQ(unseen_remainder(target, squared_error, target, {1.5, 0}), 1.5 * 100);
  EXPECT_EQ(unseen_remainder(target, squared_error, table_with({0, 0, 0, 0, 0, 5}), {2, 0}), 0);
  EXPECT_EQ(unseen_remainder(table_with({}), 0, left, {2, 0}), 0);
}

TEST(UnseenRemainder, IsNoLessThanTheLeastThatIsLeft) {
  const ChainTable target = table_with({10, -9, 8, -7, 6, 5});
  const double squared_error = squared_error_of(target);
  const ChainTable left = table_with({1, -3, 2, -0.5, 0, 5});
  const double of_the_worst = 1.0 / 9;
  EXPECT_DOUBLE_EQ(unseen_remainder(target, squared_error, left, {2, 0.9 * of_the_worst}),
                   200 * of_the_worst);
  EXPECT_DOUBLE_EQ(unseen_remainder(target, squared_error, left, {2, 0.5}), 100);
  // An identity holds beyond the extremes as well.
  EXPECT_EQ(unseen_remainder(target, squared_error, table_with({0, 0, 0, 0, 0, 5}), {2, 0.25}), 0);
  EXPECT_DOUBLE_EQ(
      unseen_remainder(target, squared_error, table_with({0.01, 0, 0, 0, 0, 5}), {2, 0.25}), 50);
}

TEST(RareEvents, AnExpectedExcursionCountsIfItIsMoreThanTheLargestSays) {
  const ChainTable series = table_with({10, -10});
  const double squared_error = squared_error_of(series);
  constexpr double squares = 246;
  constexpr double fourths = 20046;
  const MeanError usual = with_unseen_events(series, squared_error);
  EXPECT_DOUBLE_EQ(usual.squared / squared_error, (squares + usual_growth * 100) / squares);
  EXPECT_EQ(usual.unseen, 0);
  const MeanError smaller = with_unseen_events(series, squared_error, 100);
  EXPECT_EQ(smaller.squared, usual.squared);
  EXPECT_EQ(smaller.degrees, usual.degrees);
  EXPECT_DOUBLE_EQ(smaller.unseen, 100 / squares);
  constexpr double expected = 900;
  const MeanError larger = with_unseen_events(series, squared_error, expected);
  EXPECT_DOUBLE_EQ(larger.squared / squared_error, (squares + expected) / squares);
  EXPECT_DOUBLE_EQ(larger.unseen, expected / squares);
  // A tail of shape 2/9 has E b^4 / (E b^2)^2 = (1 - 2 k)^2 / (1 - 4 k) = 25 / 9.
  EXPECT_NEAR(larger.degrees,
              2 * std::pow(squares + expected, 2) / (fourths + 25.0 / 9 * expected * expected),
              1e-12);
}

}  // namespace
}  // namespace rehmc::rare_events_test
