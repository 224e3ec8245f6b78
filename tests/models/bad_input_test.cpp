// Data and sizes that a built-in target rejects: each gives an error that names the problem.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "tests/model/messages.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::bad_input_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(BadInput, DimensionZero) {
  EXPECT_THROW(StandardNormal(0), ConfigError);
  EXPECT_THROW(LogExponential(0), ConfigError);
  EXPECT_THROW(StudentT(0, 3), ConfigError);
  EXPECT_THROW(Funnel(1), ConfigError);
  EXPECT_THROW(TwoModeMixture({.dimension = 0}), ConfigError);
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

TEST(BadInput, DistanceOfTheModes) {
  for (const double distance : {-1.0, 1001.0, infinity, not_a_number}) {
    expect_says(message_of<ConfigError>(
                    [&] { TwoModeMixture mixture({.dimension = 2, .distance = distance}); }),
                {"distance of the modes"});
  }
}

TEST(BadInput, Returns) {
  const auto message = [](const std::vector<double>& returns) {
    return message_of<DataError>([&] { StochasticVolatility model(returns); });
  };
  expect_says(message({}), {"no returns"});
  expect_says(message({0.1, 0, 0.2}), {"return 2 is 0", "leave out"});
  expect_says(message({0.1, not_a_number}), {"return 2 is nan"});
  expect_says(message({infinity}), {"return 1 is inf"});
  expect_says(message({1e-200}), {"return 1"});
  const auto of_closes = [](const std::vector<double>& closes) {
    return message_of<DataError>([&] { returns_of_closes(closes); });
  };
  expect_says(of_closes({100}), {"1 closes", "at least two"});
  expect_says(of_closes({100, 101, 101}), {"closes 2 and 3 are both 101", "leave out"});
  expect_says(of_closes({100, 0}), {"close 2 is 0"});
  expect_says(of_closes({not_a_number, 1}), {"close 1 is nan"});
  EXPECT_THROW(simulate_returns({.days = 1}), ConfigError);
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

TEST(BadInput, LinearData) {
  const LinearData good{.observations = 2, .predictors = 2, .x = {1, 2, 3, 4}, .y = {0, 1}};
  const auto message = [&](auto spoil) {
    LinearData data = good;
    spoil(data);
    return message_of<DataError>([&] { LinearRegression regression(data); });
  };
  expect_says(message([](LinearData& data) { data.observations = 0; }), {"0 observations"});
  expect_says(message([](LinearData& data) { data.x.pop_back(); }), {"x has 3 numbers", "= 4"});
  expect_says(message([](LinearData& data) { data.y.push_back(1); }), {"y has 3 entries"});
  expect_says(message([](LinearData& data) { data.x[2] = not_a_number; }), {"row 2, column 1"});
  expect_says(message([](LinearData& data) { data.y[1] = infinity; }), {"y is inf in row 2"});
  for (const double sd : {0.0, -1.0, infinity, not_a_number}) {
    EXPECT_THROW(LinearRegression(good, {.beta_sd = sd}), ConfigError);
    EXPECT_THROW(LinearRegression(good, {.sigma_sd = sd}), ConfigError);
  }
  EXPECT_THROW(simulate_linear_data({.observations = 0}), ConfigError);
  EXPECT_THROW(simulate_linear_data({.predictors = 0}), ConfigError);
  EXPECT_THROW(simulate_linear_data({.correlation = 1}), ConfigError);
}

TEST(BadInput, GroupedData) {
  const GroupedData good{.group = {1, 2, 1}, .x = {1, 2, 3}, .y = {0, 1, 2}};
  const auto message = [&](auto spoil) {
    GroupedData data = good;
    spoil(data);
    return message_of<DataError>([&] { VaryingIntercepts model(data); });
  };
  expect_says(message([](GroupedData& data) { data = {}; }), {"0, 0 and 0 entries"});
  expect_says(message([](GroupedData& data) { data.x.pop_back(); }), {"3, 2 and 3 entries"});
  expect_says(message([](GroupedData& data) { data.y[1] = not_a_number; }),
              {"observation 2", "x = 2 and y = nan"});
  expect_says(message([](GroupedData& data) { data.group[1] = 90210; }),
              {"group 90210", "no observation of group 2", "without gaps"});
  expect_says(message([](GroupedData& data) { data.group[0] = 0; }), {"found group 0"});
  for (const double sd : {0.0, -1.0, infinity, not_a_number}) {
    EXPECT_THROW(VaryingIntercepts(good, {.location_sd = sd}), ConfigError);
    EXPECT_THROW(VaryingIntercepts(good, {.scale_sd = sd}), ConfigError);
  }
  EXPECT_THROW(simulate_varying_intercepts({.groups = 0}), ConfigError);
  EXPECT_THROW(simulate_varying_intercepts({.groups = 5, .observations = 4}), ConfigError);
}

}  // namespace
}  // namespace rehmc::testing::bad_input_test
