// Exact samplers against the stated distributions, and against the densities by Stein's identity.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/models/targets.hpp"

namespace rehmc::testing::exact_samplers_test {
namespace {

constexpr std::size_t draws = 20000;

// There are fewer than 1000 comparisons in this file. Each has a false-alarm rate of 1e-7, so that
// all together have one below 1e-4: |z| < 5.33 for a normal score, and for the Kolmogorov-Smirnov
// distance sqrt(n) D < 2.9, since P(sqrt(n) D > t) < 2 exp(-2 t^2).
constexpr double z_limit = 5.33;
constexpr double distance_limit = 2.9;

/// The mean less the truth, in units of its standard error about the truth.
double z_score(std::span<const double> values, double truth) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value - truth;
    squares += (value - truth) * (value - truth);
  }
  return sum / std::sqrt(squares);
}

/// sqrt(n) times the Kolmogorov-Smirnov distance, computed at 200 of the draws because some
/// distribution functions are slow; never larger than the distance itself.
template <class Cumulative>
double scaled_distance(std::vector<double> values, Cumulative cumulative) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); i += values.size() / 200) {
    const double probability = cumulative(values[i]);
    distance = std::max({distance, probability - static_cast<double>(i) / n,
                         static_cast<double>(i + 1) / n - probability});
  }
  return std::sqrt(n) * distance;
}

/// The result of a comparison.
struct Comparison {
  std::string what;
  double score = 0;  ///< 1 is the limit
};

struct Moments {
  bool mean = true;
  bool variance = true;
};

/// Every comparison for draws x (scaled by `stretch`, which is 1 except in the negative control).
template <class Target>
std::vector<Comparison> compare(Target target, const Moments& moments, double stretch = 1) {
  const std::size_t dimension = target.dimension();
  std::vector<double> gradient(dimension);
  std::vector<double> means;
  for (std::size_t i = 0; i < dimension; ++i) means.push_back(target.mean(i));
  // One series of draws per coordinate: x_i, (x_i - mean)^2, g_i, x_i g_i + 1, x_i g_{i+1}.
  using Series = std::vector<std::vector<double>>;
  Series x(dimension), square(dimension), slope(dimension), product(dimension), cross(dimension);
  for (std::size_t k = 0; k < draws; ++k) {
    std::vector<double> point(dimension);
    Stream stream({.seed = 17, .iteration = k}, Purpose::test);
    target.sample(stream, point);
    for (double& entry : point) entry *= stretch;
    target(point, gradient);
    for (std::size_t i = 0; i < dimension; ++i) {
      x[i].push_back(point[i]);
      square[i].push_back(std::pow(point[i] - means[i], 2));
      slope[i].push_back(gradient[i]);
      product[i].push_back(point[i] * gradient[i]);
      cross[i].push_back(point[i] * gradient[(i + 1) % dimension]);
    }
  }
  std::vector<Comparison> list;
  for (std::size_t i = 0; i < dimension; ++i) {
    const std::string at = " of coordinate " + std::to_string(i);
    const auto add_z = [&](const std::string& what, std::span<const double> values, double truth) {
      list.push_back({what + at, std::abs(z_score(values, truth)) / z_limit});
    };
    if (moments.mean) add_z("mean", x[i], means[i]);
    if (moments.variance) add_z("variance", square[i], target.variance(i));
    // Stein's identity: E g_j = 0 and E x_i g_j = -1{i = j}.
    add_z("gradient", slope[i], 0);
    add_z("Stein product", product[i], -1);
    if (dimension > 1) add_z("Stein cross product", cross[i], 0);
    const auto cumulative = [&](double value) { return target.cumulative(i, value); };
    list.push_back({"distribution" + at, scaled_distance(x[i], cumulative) / distance_limit});
  }
  return list;
}

template <class Target>
void expect_exact(const Target& target, const Moments& moments = {}) {
  for (const Comparison& comparison : compare(target, moments)) {
    EXPECT_LT(comparison.score, 1) << comparison.what;
  }
}

TEST(ExactSamplers, StandardNormal) { expect_exact(StandardNormal(5)); }

TEST(ExactSamplers, DiagonalNormal) { expect_exact(wishart_diagonal_normal(10)); }

TEST(ExactSamplers, CorrelatedNormal) {
  expect_exact(CorrelatedNormal(wishart_draw({.dimension = 10, .degrees_of_freedom = 12})));
}

TEST(ExactSamplers, Banana) {
  expect_exact(Banana());
  expect_exact(Banana(-3));
  expect_exact(Banana(20));
}

// The scale of x varies so much that its sample mean and variance are far from normal: only the
// distribution and Stein's identity are tested.
TEST(ExactSamplers, Funnel) { expect_exact(Funnel(5), {.mean = false, .variance = false}); }

TEST(ExactSamplers, StudentT) {
  expect_exact(StudentT(4, 5), {.variance = false});
  expect_exact(StudentT(4, 1), {.mean = false, .variance = false});
}

TEST(ExactSamplers, LogExponential) { expect_exact(LogExponential(5)); }

TEST(ExactSamplers, TwoModeMixture) {
  expect_exact(TwoModeMixture());
  expect_exact(TwoModeMixture({.dimension = 3, .distance = 9}));
}

// Negative control: draws that are 15% too wide are detected on every target, by the distribution
// alone and by Stein's identity alone.
template <class Target>
void expect_found_out(const Target& target) {
  bool by_distribution = false;
  bool by_stein = false;
  for (const Comparison& comparison : compare(target, {.mean = false, .variance = false}, 1.15)) {
    if (comparison.score < 1) continue;
    (comparison.what.starts_with("distribution") ? by_distribution : by_stein) = true;
  }
  EXPECT_TRUE(by_distribution);
  EXPECT_TRUE(by_stein);
}

TEST(ExactSamplers, DrawsThatAreTooWideAreDetected) {
  expect_found_out(StandardNormal(10));
  expect_found_out(wishart_diagonal_normal(10));
  expect_found_out(CorrelatedNormal(wishart_draw({.dimension = 10, .degrees_of_freedom = 12})));
  expect_found_out(Banana());
  expect_found_out(Funnel(5));
  expect_found_out(StudentT(10, 5));
  expect_found_out(LogExponential(10));
  expect_found_out(TwoModeMixture());
}

}  // namespace
}  // namespace rehmc::testing::exact_samplers_test
