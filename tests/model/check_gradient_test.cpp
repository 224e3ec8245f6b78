// The finite-difference check itself, on functions chosen to mislead it.
#include "rehmc/model/check_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "rehmc/core/error.hpp"
#include "tests/model/messages.hpp"

namespace rehmc::testing::check_gradient_test {
namespace {

/// exp(-u) + u with u = (x - location) / scale, times height, plus offset: scales, locations and
/// offsets far from 1 all make differences inexact.
struct Valley {
  double location = 0;
  double scale = 1;
  double height = 1;
  double offset = 0;
  double error = 0;  ///< relative error of the gradient

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    const double u = (x[0] - location) / scale;
    gradient[0] = height * (std::exp(-u) - 1) / scale * (1 + error);
    return offset - height * (std::exp(-u) + u);
  }
  std::size_t dimension() const { return 1; }
};

const Valley valleys[] = {{},
                          {.scale = 1e-6},
                          {.scale = 1e6},
                          {.location = 1e6},
                          {.location = -1e3, .scale = 1e-3},
                          {.height = 1e8},
                          {.height = 1e-8},
                          {.offset = 1e6}};

TEST(CheckGradient, AcceptsRightGradientsAtEveryScale) {
  for (const Valley& valley : valleys) {
    for (const double u : {-3.0, -0.5, 0.0, 1e-3, 0.7, 5.0}) {
      const std::vector<double> x{valley.location + u * valley.scale};
      const DerivativeCheck entry = check_gradient(valley, x)[0];
      EXPECT_TRUE(entry.ok) << entry.analytic << " " << entry.numeric << " " << entry.tolerance;
    }
  }
}

TEST(CheckGradient, RejectsGradientsThatAreWrongByOnePerMille) {
  for (Valley valley : valleys) {
    valley.error = 1e-3;
    for (const double u : {-3.0, -0.5, 0.7, 5.0}) {
      const std::vector<double> x{valley.location + u * valley.scale};
      const DerivativeCheck entry = check_gradient(valley, x)[0];
      EXPECT_FALSE(entry.ok) << entry.analytic << " " << entry.numeric << " " << entry.tolerance;
      EXPECT_EQ(entry.error, std::abs(entry.analytic - entry.numeric));
    }
  }
}

// So far from zero that the log density does not change at all within a step.
TEST(CheckGradient, DoesNotBlameTheModelWhereEveryDigitIsLost) {
  for (const double u : {-0.2, 0.3, 0.7}) {
    const DerivativeCheck entry = check_gradient(Valley{.offset = 1e13}, std::vector{u})[0];
    EXPECT_TRUE(entry.ok) << entry.error << " " << entry.tolerance;
  }
}

// A log density with an error of 1e-7 allows no precise check, so none fails.
TEST(CheckGradient, DoesNotBlameTheModelForARoughLogDensity) {
  const FunctionDensity rough(1, [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = -x[0];
    return static_cast<double>(static_cast<float>(-0.5 * x[0] * x[0]));
  });
  for (int k = 1; k < 200; ++k) {
    const DerivativeCheck entry = check_gradient(rough, std::vector{0.01 * k})[0];
    EXPECT_TRUE(entry.ok) << k << ": " << entry.error << " " << entry.tolerance;
  }
}

TEST(CheckGradient, StaysInsideTheSupport) {
  const FunctionDensity half_line(1, [](std::span<const double> x, std::span<double> gradient) {
    if (x[0] <= 0) throw std::domain_error("must be positive");
    gradient[0] = 1 / x[0] - 1;
    return std::log(x[0]) - x[0];
  });
  for (const double x : {1e-8, 1e-3, 2.0}) {
    const DerivativeCheck entry = check_gradient(half_line, std::vector{x})[0];
    EXPECT_TRUE(entry.ok) << x;
    EXPECT_NEAR(entry.numeric / entry.analytic, 1, 1e-5) << x;
  }
}

TEST(CheckGradient, DoesNotPassWhatItCannotCheck) {
  const FunctionDensity lonely(1, [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 0;
    return x[0] == 1 ? 0 : std::numeric_limits<double>::quiet_NaN();
  });
  const DerivativeCheck entry = check_gradient(lonely, std::vector{1.0})[0];
  EXPECT_FALSE(entry.ok);
  EXPECT_TRUE(std::isnan(entry.numeric));
}

TEST(CheckGradient, TakesFourEvaluationsForMostCoordinates) {
  const auto calls = std::make_shared<std::size_t>(0);
  const FunctionDensity counted(100,
                                [calls](std::span<const double> x, std::span<double> gradient) {
                                  ++*calls;
                                  double sum = 0;
                                  for (std::size_t i = 0; i < x.size(); ++i) {
                                    gradient[i] = -std::sinh(x[i]);
                                    sum -= std::cosh(x[i]);
                                  }
                                  return sum;
                                });
  std::vector<double> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) + 1);
  for (const DerivativeCheck& entry : check_gradient(counted, x)) EXPECT_TRUE(entry.ok);
  EXPECT_LE(*calls, 1 + 5 * x.size());
}

TEST(CheckGradient, NamesCoordinatesAndRefusesBadPoints) {
  EXPECT_EQ(check_gradient(Valley{}, std::vector{0.5})[0].name, "x[1]");
  EXPECT_THROW(check_gradient(Valley{}, std::vector{0.5, 0.5}), ModelError);
  EXPECT_THROW(check_gradient(Valley{}, std::vector{std::nan("")}), ModelError);
}

double quartic(std::span<const double> x, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    gradient[i] = -4 * x[i] * x[i] * x[i];
    sum -= x[i] * x[i] * x[i] * x[i];
  }
  return sum;
}

TEST(CheckGradientAlong, FindsAWrongEntryAmongManyRightOnes) {
  const std::size_t dimension = 1000;
  const FunctionDensity right(dimension, quartic);
  const FunctionDensity wrong(dimension, [](std::span<const double> x, std::span<double> gradient) {
    const double value = quartic(x, gradient);
    gradient[77] *= 1.5;
    return value;
  });
  const std::vector<double> x(dimension, 0.8);
  std::vector<double> direction(dimension);
  for (std::size_t i = 0; i < dimension; ++i) direction[i] = i % 3 == 0 ? 1 : -0.7;
  EXPECT_TRUE(check_gradient_along(right, x, direction).ok);
  EXPECT_FALSE(check_gradient_along(wrong, x, direction).ok);
}

TEST(CheckGradientAlong, RefusesBadDirections) {
  const FunctionDensity density(2, quartic);
  const std::vector<double> x{1, 2};
  const auto message = [&](std::vector<double> direction) {
    return message_of<ConfigError>([&] { check_gradient_along(density, x, direction); });
  };
  expect_says(message({1}), {"length 1", "dimension 2"});
  expect_says(message({0, 0}), {"all entries are 0"});
  expect_says(message({1, std::nan("")}), {"nan"});
  expect_says(message({std::nan(""), 1}), {"nan"});
}

}  // namespace
}  // namespace rehmc::testing::check_gradient_test
