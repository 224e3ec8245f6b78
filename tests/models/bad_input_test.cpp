// Data and sizes that a built-in target cannot use: each gets an error that names what is wrong.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "tests/model/messages.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(BadInput, DimensionZero) {
  EXPECT_THROW(StandardNormal(0), ConfigError);
  EXPECT_THROW(LogExponential(0), ConfigError);
  EXPECT_THROW(StudentT(0, 3), ConfigError);
  EXPECT_THROW(Funnel(1), ConfigError);
  EXPECT_THROW(DiagonalNormal(std::vector<double>{}), DataError);
  EXPECT_THROW(CorrelatedNormal(std::vector<double>{}), DataError);
  EXPECT_THROW(wishart_draw({.dimension = 0}), ConfigError);
}

TEST(BadInput, DegreesOfFreedom) {
  for (const double freedom : {0.0, -1.0, infinity, not_a_number}) {
    expect_says(message_of<ConfigError>([&] { StudentT(2, freedom); }), {"degrees of freedom"});
  }
  expect_says(
      message_of<ConfigError>([] { wishart_draw({.dimension = 5, .degrees_of_freedom = 4}); }),
      {"degrees of freedom", "4", "at least 5"});
}

TEST(BadInput, ObservationOfTheBanana) {
  for (const double y : {infinity, -infinity, not_a_number, 1e9}) {
    EXPECT_THROW(Banana{y}, ConfigError);
  }
}

TEST(BadInput, StandardDeviations) {
  for (const double sd : {0.0, -1.0, infinity, not_a_number, 1e-200}) {
    expect_says(message_of<DataError>([&] {
                  DiagonalNormal(std::vector{1.0, sd, 2.0});
                }),
                {"standard deviation 2 of 3"});
  }
}

TEST(BadInput, Covariance) {
  const auto message = [](std::vector<double> covariance) {
    return message_of<DataError>([&] { CorrelatedNormal normal(covariance); });
  };
  expect_says(message({1, 2, 3}), {"3 entries"});
  expect_says(message({1, 0.5, 0.4, 1}), {"row 1, column 2", "0.4"});
  expect_says(message({1, 0, 0, not_a_number}), {"finite"});
  expect_says(message({1, 2, 2, 1}), {"not positive definite"});
  expect_says(message({1, 1, 1, 1}), {"not positive definite"});
}

TEST(BadInput, LogisticData) {
  const LogisticData good{.observations = 2, .predictors = 2, .x = {1, 2, 3, 4}, .y = {0, 1}};
  const auto message = [&](auto spoil) {
    LogisticData data = good;
    spoil(data);
    return message_of<DataError>([&] { LogisticRegression regression(data); });
  };
  expect_says(message([](LogisticData& data) { data.observations = 0; }), {"0 observations"});
  expect_says(message([](LogisticData& data) { data.predictors = 0; }), {"0 predictors"});
  expect_says(message([](LogisticData& data) { data.x.pop_back(); }), {"x has 3 numbers", "= 4"});
  expect_says(message([](LogisticData& data) { data.y.push_back(1); }),
              {"y has 3 entries", "must be 2"});
  expect_says(message([](LogisticData& data) { data.x[2] = not_a_number; }),
              {"nan", "row 2, column 1"});
  expect_says(message([](LogisticData& data) { data.x[1] = -infinity; }), {"row 1, column 2"});
  expect_says(message([](LogisticData& data) { data.y[1] = 2; }), {"y is 2 in row 2", "0 or 1"});
  for (const double prior_sd : {0.0, -1.0, infinity, not_a_number}) {
    EXPECT_THROW(LogisticRegression(good, prior_sd), ConfigError);
  }
  EXPECT_THROW(simulate_logistic_data({.observations = 0}), ConfigError);
  EXPECT_THROW(simulate_logistic_data({.predictors = 0}), ConfigError);
}

}  // namespace
}  // namespace rehmc::testing
