// Regressions against their definitions, written out one observation at a time; what users read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/models/targets.hpp"

namespace rehmc::testing {
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

TEST(LinearRegression, IsReadOnTheScaleOfSigma) {
  const LinearRegression model(simulate_linear_data({.predictors = 2}));
  EXPECT_EQ(model.names(), (std::vector<std::string>{"beta.1", "beta.2", "log_sigma"}));
  const std::vector<Quantity> quantities = Density(model).quantities();
  ASSERT_EQ(quantities.size(), 3U);
  EXPECT_EQ(quantities[1].name, "beta.2");
  EXPECT_EQ(quantities[2].name, "sigma");
  EXPECT_EQ(quantities[2].coordinate, 2U);
  EXPECT_EQ(read(model, std::vector{0.3, -0.8, 1.5}), (std::vector{0.3, -0.8, std::exp(1.5)}));
}

// The slope of 20000 pairs has standard error 0.0071 at most: five of them.
TEST(LinearRegression, SimulatedPredictorsAreCorrelatedAsAsked) {
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
  // One group; no two observations in a group; x that tells nothing within groups.
  expect_varying_intercepts(simulate_varying_intercepts({.groups = 1, .observations = 9}));
  expect_varying_intercepts(simulate_varying_intercepts({.groups = 9, .observations = 9}));
  expect_varying_intercepts({.group = {2, 1, 2}, .x = {3, -1, 3}, .y = {0.5, 1.5, 4}});
}

TEST(VaryingIntercepts, AreReadWithTheInterceptOfEachGroup) {
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
  EXPECT_EQ(
      read(model, std::vector{0.3, -0.8, 0.4, -0.2, 1.1, -0.6}),
      (std::vector{0.3, -0.8, tau, std::exp(-0.2), 1.1, -0.6, 0.3 + tau * 1.1, 0.3 + tau * -0.6}));
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

}  // namespace
}  // namespace rehmc::testing
