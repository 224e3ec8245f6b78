// Initial points: where they are, how often they are tried, and the error if none works.
#include "rehmc/model/initial_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "tests/model/messages.hpp"

namespace rehmc::testing::initial_point_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double normal(std::span<const double> x, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    gradient[i] = -x[i];
    sum -= 0.5 * x[i] * x[i];
  }
  return sum;
}

const FunctionDensity standard_normal(3, normal);

// 30000 uniform numbers: none outside, and the Kolmogorov-Smirnov distance below the limit of a
// false-alarm rate of 1e-6 (2 exp(-2 * 2.7^2)).
TEST(RandomInitialPoint, IsUniformWithinItsRadius) {
  for (const double radius : {2.0, 0.1}) {
    std::vector<double> all;
    for (std::uint32_t chain = 0; chain < 10000; ++chain) {
      Guard guard(standard_normal);
      const auto position =
          random_initial_point(guard, {.initial_radius = radius}, {.seed = 4, .chain = chain});
      EXPECT_EQ(guard.evaluations(), 1U);
      all.insert(all.end(), position.begin(), position.end());
    }
    std::ranges::sort(all);
    EXPECT_GT(all.front(), -radius);
    EXPECT_LT(all.back(), radius);
    double distance = 0;
    const auto n = static_cast<double>(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double probability = 0.5 + 0.5 * all[i] / radius;
      distance = std::max(distance, std::abs(probability - (static_cast<double>(i) + 0.5) / n));
    }
    EXPECT_LT(std::sqrt(n) * distance, 2.7);
  }
}

TEST(RandomInitialPoint, DependsOnItsAddressAlone) {
  Guard guard(standard_normal);
  const Address address{.seed = 4, .chain = 1};
  const auto first = random_initial_point(guard, {}, address);
  EXPECT_EQ(random_initial_point(guard, {}, address), first);
  EXPECT_NE(random_initial_point(guard, {}, {.seed = 4, .chain = 2}), first);
  EXPECT_NE(random_initial_point(guard, {}, {.seed = 5, .chain = 1}), first);
}

TEST(RandomInitialPoint, TriesAgainWhereTheModelFailsHalfOfTheTime) {
  const FunctionDensity half(1, [](std::span<const double> x, std::span<double> gradient) {
    return x[0] > 0 ? not_a_number : normal(x, gradient);
  });
  std::uint64_t evaluations = 0;
  for (std::uint32_t chain = 0; chain < 200; ++chain) {
    Guard guard(half);
    EXPECT_LE(random_initial_point(guard, {}, {.chain = chain})[0], 0);
    evaluations += guard.evaluations();
  }
  EXPECT_GT(evaluations, 300U);  // two tries on average
  EXPECT_LT(evaluations, 500U);
}

TEST(RandomInitialPoint, ReportsTheCausesAfterTheLastTry) {
  const FunctionDensity hopeless(2, [](std::span<const double> x, std::span<double> /*gradient*/) {
    if (x[0] > 1) throw std::domain_error("scale must be positive");
    return x[0] > 0 ? not_a_number : -infinity;
  });
  Guard guard(hopeless);
  const std::string message =
      message_of<ModelError>([&] { random_initial_point(guard, {}, {.seed = 1}); });
  EXPECT_EQ(guard.evaluations(), 100U);
  const auto counted = [&](Fault fault) {
    return std::to_string(guard.faults(fault)) + " times " + std::string(describe(fault));
  };
  expect_says(message, {"100 tries", "(-2, 2)", counted(Fault::not_a_number),
                        counted(Fault::negative_infinity), counted(Fault::exception),
                        "scale must be positive", "--init", "x[1] = "});
}

TEST(RandomInitialPoint, LeavesOutCausesThatDidNotOccur) {
  Guard guard(
      FunctionDensity(1, [](std::span<const double>, std::span<double>) { return not_a_number; }));
  const std::string message = message_of<ModelError>(
      [&] { random_initial_point(guard, {.initial_tries = 7}, {.seed = 1}); });
  expect_says(message, {"7 tries", "7 times the log density is NaN"});
  EXPECT_EQ(message.find("exception"), std::string::npos) << message;
}

TEST(RandomInitialPoint, FailsImmediatelyForAWrongGradientLength) {
  for (const std::size_t written : {1UL, 3UL}) {
    Guard guard(FunctionDensity(2, [written](std::span<const double>, std::span<double> gradient) {
      std::fill_n(gradient.data(), written, 1.0);
      return -1.0;
    }));
    EXPECT_THROW(random_initial_point(guard, {}, {.seed = 1}), GradientLengthError);
    EXPECT_EQ(guard.evaluations(), 1U);
  }
}

TEST(RandomInitialPoint, RefusesBadSettings) {
  Guard guard(standard_normal);
  for (const double radius : {0.0, -1.0, infinity, not_a_number}) {
    expect_says(message_of<ConfigError>(
                    [&] { random_initial_point(guard, {.initial_radius = radius}, {}); }),
                {"initial_radius"});
  }
  expect_says(
      message_of<ConfigError>([&] { random_initial_point(guard, {.initial_tries = 0}, {}); }),
      {"initial_tries", "0"});
}

TEST(GivenInitialPoint, IsTheGivenOne) {
  Guard guard(standard_normal);
  const std::vector<double> position{1, -2, 3};
  EXPECT_EQ(given_initial_point(guard, position), position);
}

TEST(GivenInitialPoint, MustFitAndBeFinite) {
  Guard guard(standard_normal);
  expect_says(message_of<ConfigError>([&] { given_initial_point(guard, std::vector{1.0}); }),
              {"found 1", "has 3"});
  expect_says(message_of<ConfigError>([&] {
                given_initial_point(guard, std::vector{1.0, not_a_number, 0.0});
              }),
              {"x[2] (coordinate 2 of 3) is nan"});
  EXPECT_EQ(guard.evaluations(), 0U);
}

TEST(GivenInitialPoint, FailsImmediatelyWithTheCause) {
  Guard guard(FunctionDensity(1, [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 1 / x[0];
    return std::min(x[0], 0.0);
  }));
  expect_says(message_of<ModelError>([&] { given_initial_point(guard, std::vector{0.0}); }),
              {"cannot start at the given initial point", "gradient", "x[1]", "inf"});
  EXPECT_EQ(guard.evaluations(), 1U);
}

TEST(GivenInitialPoint, FailsImmediatelyWithTheModelsMessage) {
  Guard guard(FunctionDensity(1, [](std::span<const double>, std::span<double>) -> double {
    throw std::runtime_error("solver did not converge");
  }));
  expect_says(message_of<ModelError>([&] { given_initial_point(guard, std::vector{0.5}); }),
              {"given initial point", "solver did not converge", "x[1] = 0.5"});
}

}  // namespace
}  // namespace rehmc::testing::initial_point_test
