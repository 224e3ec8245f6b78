// Regressions against their definitions, written out one observation at a time; what users read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rehmc/core/error.hpp"
#include "tests/model/messages.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::regressions_test {
namespace {

long double normal_log_density(long double x, long double mean, long double sd) {
  const long double z = (x - mean) / sd;
  return -0.5L * z * z - std::log(sd);
}

std::vector<double> normal_point(std::size_t dimension, std::uint64_t iteration) {
  std::vector<double> x(dimension);
  Stream({.seed = 12, .iteration = iteration}, Purpose::test).fill_normal(x);
  return x;
}

/// Whether density and definition differ by the same constant at many points.
template <class Definition>
void expect_density(Density density, Definition definition, double tolerance) {
  std::vector<double> gradient(density.dimension());
  double constant = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    const std::vector<double> x = normal_point(density.dimension(), k);
    const auto expected = static_cast<double>(definition(x));
    const double offset = density(x, gradient) - expected;
    if (k == 0) constant = offset;
    EXPECT_NEAR(offset, constant, tolerance * (1 + std::abs(expected))) << "point " << k;
  }
}

std::vector<double> read(Density density, std::span<const double> x) {
  std::vector<double> values(density.quantities().size());
  density.evaluate_quantities(x, values, nullptr);
  return values;
}

// More rows than columns, as many, one row more, fewer: the triangle has another shape in each.
TEST(LinearRegression, IsItsDefinition) {
  for (const std::size_t observations : {1UL, 3UL, 4UL, 5UL, 6UL, 200UL}) {
    SCOPED_TRACE(observations);
    const std::size_t predictors = 4;
    const LinearData data =
        simulate_linear_data({.observations = observations, .predictors = predictors, .seed = 3});
    const auto definition = [&](std::span<const double> x) {
      const long double sigma = std::exp(static_cast<long double>(x[predictors]));
      long double sum = -0.5L * (sigma / 0.7L) * (sigma / 0.7L) + x[predictors];
      for (std::size_t j = 0; j < predictors; ++j) sum += normal_log_density(x[j], 0, 2.5L);
      for (std::size_t i = 0; i < observations; ++i) {
        long double mean = 0;
        for (std::size_t j = 0; j < predictors; ++j) {
          mean += static_cast<long double>(data.x[i * predictors + j]) * x[j];
        }
        sum += normal_log_density(data.y[i], mean, sigma);
      }
      return sum;
    };
    expect_density(LinearRegression(data, {.beta_sd = 2.5, .sigma_sd = 0.7}), definition, 1e-12);
  }
}

TEST(LinearRegression, IsReportedOnTheScaleOfSigma) {
  const LinearRegression model(simulate_linear_data({.predictors = 2}));
  EXPECT_EQ(model.names(), (std::vector<std::string>{"beta.1", "beta.2", "log_sigma"}));
  const std::vector<Quantity> quantities = Density(model).quantities();
  ASSERT_EQ(quantities.size(), 3U);
  EXPECT_EQ(quantities[1].name, "beta.2");
  EXPECT_EQ(quantities[2].name, "sigma");
  EXPECT_EQ(quantities[2].coordinate, 2U);
  const std::vector<double> values = read(model, std::vector{0.3, -0.8, 1.5});
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[1], -0.8);
  EXPECT_DOUBLE_EQ(values[2], std::exp(1.5));
}

// The slope of 20000 pairs has standard error 0.0071 at most: five of them.
TEST(LinearRegression, SimulatedPredictorsHaveTheRequestedCorrelation) {
  const std::size_t rows = 20000;
  const LinearData data =
      simulate_linear_data({.observations = rows, .predictors = 4, .correlation = 0.6});
  for (std::size_t apart = 0; apart < 4; ++apart) {
    double products = 0;
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      products += data.x[4 * i] * data.x[4 * i + apart];
      squares += data.x[4 * i + apart] * data.x[4 * i + apart];
    }
    EXPECT_NEAR(products / squares, std::pow(0.6, apart), 0.036);
    EXPECT_NEAR(squares / rows, 1, 5 * std::sqrt(2.0 / rows));
  }
}

void expect_varying_intercepts(const GroupedData& data) {
  const auto definition = [&](std::span<const double> x) {
    const long double tau = std::exp(static_cast<long double>(x[2]));
    const long double sigma = std::exp(static_cast<long double>(x[3]));
    long double sum = normal_log_density(x[0], 0, 4) + normal_log_density(x[1], 0, 4);
    sum += -0.5L * (tau * tau + sigma * sigma) / (1.5L * 1.5L) + x[2] + x[3];
    for (std::size_t j = 4; j < x.size(); ++j) sum += normal_log_density(x[j], 0, 1);
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      const long double mean = x[0] + tau * x[3 + data.group[i]] + x[1] * data.x[i];
      sum += normal_log_density(data.y[i], mean, sigma);
    }
    return sum;
  };
  expect_density(VaryingIntercepts(data, {.location_sd = 4, .scale_sd = 1.5}), definition, 1e-12);
}

TEST(VaryingIntercepts, IsItsDefinition) {
  expect_varying_intercepts(simulate_varying_intercepts({}));
  // One group; no two observations in a group; x that is constant within groups.
  expect_varying_intercepts(simulate_varying_intercepts({.groups = 1, .observations = 9}));
  expect_varying_intercepts(simulate_varying_intercepts({.groups = 9, .observations = 9}));
  expect_varying_intercepts({.group = {2, 1, 2}, .x = {3, -1, 3}, .y = {0.5, 1.5, 4}});
}

TEST(VaryingIntercepts, AreReportedWithTheInterceptOfEachGroup) {
  const VaryingIntercepts model(
      GroupedData{.group = {2, 1, 2}, .x = {0, 1, 1}, .y = {0.5, 1.5, 4}});
  using Names = std::vector<std::string>;
  EXPECT_EQ(model.names(), (Names{"mu", "beta", "log_tau", "log_sigma", "a.1", "a.2"}));
  Names names;
  for (const Quantity& quantity : Density(model).quantities()) {
    EXPECT_EQ(quantity.coordinate.value_or(99), names.size() < 6 ? names.size() : 99);
    names.push_back(quantity.name);
  }
  EXPECT_EQ(names, (Names{"mu", "beta", "tau", "sigma", "a.1", "a.2", "alpha.1", "alpha.2"}));
  const double tau = std::exp(0.4);
  const std::vector<double> values = read(model, std::vector{0.3, -0.8, 0.4, -0.2, 1.1, -0.6});
  const std::vector<double> expected{
      0.3, -0.8, tau, std::exp(-0.2), 1.1, -0.6, 0.3 + tau * 1.1, 0.3 + tau * -0.6};
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(values[i], expected[i]) << i;
}

TEST(VaryingIntercepts, SimulatedGroupsDifferInSize) {
  std::vector<int> sizes(85);
  const GroupedData data = simulate_varying_intercepts({});
  EXPECT_EQ(data.y.size(), 919U);
  for (const std::size_t group : data.group) ++sizes.at(group - 1);
  EXPECT_GE(std::ranges::min(sizes), 1);
  EXPECT_LE(std::ranges::min(sizes), 3);
  EXPECT_GE(std::ranges::max(sizes), 40);
}

// A flat prior on sigma, hence the Jacobian sigma of log sigma.
TEST(HierarchicalLogistic, IsItsDefinition) {
  const LogisticData data =
      with_interactions(simulate_attributes({.observations = 70, .attributes = 4}));
  const HierarchicalLogistic model(data);
  EXPECT_EQ(model.names()[0], "log_sigma");
  EXPECT_EQ(model.names()[11], "beta.11");
  const auto definition = [&](std::span<const double> x) {
    long double sum = x[0];
    for (std::size_t j = 1; j < x.size(); ++j) {
      sum += normal_log_density(x[j], 0, std::exp(static_cast<long double>(x[0])));
    }
    for (std::size_t i = 0; i < data.observations; ++i) {
      long double linear = 0;
      for (std::size_t j = 0; j < data.predictors; ++j) {
        linear += static_cast<long double>(data.x[i * data.predictors + j]) * x[1 + j];
      }
      sum -= std::log1p(std::exp(data.y[i] == 1 ? -linear : linear));
    }
    return sum;
  };
  expect_density(model, definition, 1e-12);
}

TEST(Interactions, AreStandardisedProductsOfStandardisedColumns) {
  // Standardised: (-1, 1, -1, 1) and (-1, -1, -1, 3) / sqrt(3), whose product is (1, -1, 1, 3) /
  // sqrt(3) with mean 1 / sqrt(3) and variance (0 + 4 + 0 + 4) / 12.
  const LogisticData data = with_interactions({.observations = 4,
                                               .attributes = 2,
                                               .values = {10, 2, 20, 2, 10, 2, 20, 6},
                                               .y = {0, 1, 1, 0}});
  EXPECT_EQ(data.observations, 4U);
  EXPECT_EQ(data.predictors, 4U);
  EXPECT_EQ(data.y, (std::vector{0, 1, 1, 0}));
  const double third = 1 / std::sqrt(3.0);
  const double half = std::sqrt(2.0);
  const std::vector<double> expected{1, -1, -third, 0, 1, 1, -third,    -half,
                                     1, -1, -third, 0, 1, 1, 3 * third, half};
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(data.x[i], expected[i], 1e-14) << i;
}

TEST(Interactions, OfTwentyFourAttributesMakeThreeHundredAndOnePredictors) {
  const AttributeData attributes = simulate_attributes({});
  const LogisticData data = with_interactions(attributes);
  EXPECT_EQ(data.observations, 1000U);
  EXPECT_EQ(data.predictors, 301U);
  // (1, 2), ..., (1, 24), (2, 3), ...: the product of attributes 3 and 7 comes after 23 + 22
  // others and three of its own.
  const double* const row = data.x.data() + 301 * 17;
  const auto product_at = [&](std::size_t i) { return data.x[301 * i + 3] * data.x[301 * i + 7]; };
  double mean = 0;
  double square = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    mean += product_at(i) / 1000;
    square += product_at(i) * product_at(i) / 1000;
  }
  EXPECT_NEAR(row[25 + 23 + 22 + 3], (product_at(17) - mean) / std::sqrt(square - mean * mean),
              1e-11);
  double ones = 0;
  for (const int y : data.y) ones += y;
  EXPECT_NEAR(ones, 300, 60);
}

TEST(Interactions, NeedColumnsThatVary) {
  const AttributeData good{
      .observations = 3, .attributes = 2, .values = {1, 2, 3, 5, 4, 1}, .y = {0, 1, 1}};
  const auto message = [&](auto spoil) {
    AttributeData data = good;
    spoil(data);
    return message_of<DataError>([&] { with_interactions(data); });
  };
  expect_says(message([](AttributeData& data) { data.values = {1, 0.1, 3, 0.1, 4, 0.1}; }),
              {"column 2 is the same in every row"});
  expect_says(message([](AttributeData& data) {
                data = {.observations = 2, .attributes = 2, .values = {1, 1, 2, 2}, .y = {0, 1}};
              }),
              {"product of columns 1 and 2"});
  expect_says(message([](AttributeData& data) { data.values[3] = std::nan(""); }),
              {"nan in row 2, column 2"});
  expect_says(message([](AttributeData& data) { data.values.pop_back(); }), {"5 values"});
  expect_says(message([](AttributeData& data) { data.y.pop_back(); }), {"2 entries of y"});
  EXPECT_THROW(simulate_attributes({.observations = 1}), ConfigError);
  EXPECT_THROW(simulate_attributes({.attributes = 0}), ConfigError);
}

TEST(GermanCredit, IsReadFromItsText) {
  const std::string first =
      "   1   6   4  12   5   5   3   4   1  67   3   2   1   2   1   0   0   1";
  const std::string rest = "   0   0   1   0   0   1 ";
  const AttributeData data =
      read_german_credit(first + rest + "  1 \r\n\n" + first + rest + "\t2", "german");
  EXPECT_EQ(data.observations, 2U);
  EXPECT_EQ(data.attributes, 24U);
  ASSERT_EQ(data.values.size(), 48U);
  EXPECT_EQ(data.values[9], 67);
  EXPECT_EQ(data.values[47], 1);
  EXPECT_EQ(data.y, (std::vector{0, 1}));
  const auto message = [](const std::string& text) {
    return message_of<DataError>([&] { read_german_credit(text, "german"); });
  };
  expect_says(message(""), {"german", "no lines"});
  expect_says(message(first + "\n"), {"german, line 1", "18 numbers", "24"});
  expect_says(message(first + rest + "1\n" + first + rest + "3"), {"line 2", "class 3"});
  expect_says(message("A11 6"), {"line 1", "'A11' as number 1"});
  expect_says(message("1 2.5"), {"'2.5' as number 2"});
}

}  // namespace
}  // namespace rehmc::testing::regressions_test
