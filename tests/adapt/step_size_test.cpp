// The step size: dual averaging against its formulas, and the search for a first guess.
#include "rehmc/adapt/step_size.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/standard_normal.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::step_size_test {
namespace {

using testing::mentions;
using testing::message_of;

struct Iterate {
  double acceptance;
  double next;
  double averaged;
};

void expect_sequence(const StepSizeSettings& settings, double first,
                     const std::vector<Iterate>& sequence) {
  DualAveraging averaging(settings);
  // Nothing of the first round may affect the second.
  for (int round = 0; round < 2; ++round) {
    averaging.restart(first);
    EXPECT_DOUBLE_EQ(averaging.averaged(), first);
    for (const Iterate& iterate : sequence) {
      const double next = averaging.learn(iterate.acceptance);
      EXPECT_NEAR(next, iterate.next, 1e-13 * iterate.next);
      EXPECT_NEAR(averaging.averaged(), iterate.averaged, 1e-13 * iterate.averaged);
    }
  }
}

// Hoffman & Gelman (2014), eq. 6 with mu = log(10 epsilon), computed by hand to 18 digits:
// Hbar <- (1 - 1/(m + t0)) Hbar + (delta - alpha)/(m + t0), log eps = mu - sqrt(m)/gamma Hbar,
// log epsbar <- m^-kappa log eps + (1 - m^-kappa) log epsbar.
TEST(DualAveraging, FollowsItsFormulas) {
  expect_sequence({}, 0.5,
                  {{1, 7.19275504788838924, 7.19275504788838924},
                   {0.5, 3.95007928964173123, 5.03646978951435046},
                   {0, 0.454395968996368269, 1.7531900863505225},
                   {0.9, 0.508506961521134146, 1.13183392865503296},
                   {0.75, 0.396621655280680193, 0.82715035719420433}});
  expect_sequence(
      {.target_acceptance = 0.65, .regularisation = 0.1, .relaxation = 0.6, .offset = 3}, 2,
      {{0.2, 6.4930493471669946, 6.4930493471669946},
       {1, 15.0727663288752958, 11.3174850012486728},
       {0.65, 14.9851114616999516, 13.086146706771095}});
}

// Where the acceptance is a function of the step alone, alpha = exp(-step), there is an exact
// answer, and the rate is known: the sum of all delta - alpha is gamma sqrt(m) (mu - log step), so
// delta - alpha falls like gamma (mu - log step) / (2 sqrt(m)), and the average lags by a few
// percent.
TEST(DualAveraging, FindsTheStepOfTheTarget) {
  constexpr int iterations = 20000;
  for (const double target : {0.2, 0.6, 0.8, 0.95}) {
    for (const double first : {1e-3, 1.0, 1e3}) {
      DualAveraging averaging({.target_acceptance = target});
      averaging.restart(first);
      double step = first;
      for (int m = 0; m < iterations; ++m) step = averaging.learn(std::exp(-step));
      const double answer = -std::log(target);
      const double pull = 0.05 * std::log(10 * first / answer) / (2 * std::sqrt(iterations));
      const double expected = pull / (answer * target);  // d alpha / d log step = -step alpha
      EXPECT_NEAR(std::log(averaging.averaged() / answer), expected, 0.15 * std::abs(expected))
          << target << " from " << first;
    }
  }
}

std::unique_ptr<Kernel> kernel_at(Density density, std::vector<double> position) {
  auto kernel = make_kernel(std::move(density), {});
  kernel->set_position(position);
  return kernel;
}

Stream search_stream() { return {{.seed = 5}, Purpose::step_size}; }

// The search is replayed with the same momenta, trial by trial.
TEST(FindStepSize, StopsWhereTheAcceptanceCrosses) {
  for (const double guess : {1e-305, 1e-30, 1e-9, 0.01, 7.0, 1e4, 1e9, 1e300}) {
    SCOPED_TRACE(guess);
    auto kernel = kernel_at(StandardNormal(10), std::vector<double>(10, 0.5));
    Tuning tuning{guess, make_unit_metric(10)};
    Stream stream = search_stream();
    const double found = find_step_size(*kernel, tuning, stream);

    Stream replay = search_stream();
    const auto accepted = [&] {
      return !(kernel->one_step_energy_error(tuning, replay) >= -std::log(0.8));
    };
    const bool grow = guess < 0.1;
    EXPECT_EQ(accepted(), grow);
    for (int trial = 0; trial < 2100; ++trial) {
      tuning.step_size *= grow ? 2 : 0.5;
      if (accepted() != grow) break;
    }
    EXPECT_EQ(found, tuning.step_size);
    // Here a single step on a normal in ten dimensions is accepted neither always nor never.
    EXPECT_GT(found, 0.2);
    EXPECT_LT(found, 4);
  }
}

TEST(FindStepSize, SaysThatADensityDoesNotFallOff) {
  const FunctionDensity flat(2, [](std::span<const double>, std::span<double> gradient) {
    gradient[0] = gradient[1] = 0;
    return 0.0;
  });
  const FunctionDensity slope(2, [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 1;
    gradient[1] = -2;
    return x[0] - 2 * x[1];
  });
  for (const Density& improper : {Density(flat), Density(slope)}) {
    auto kernel = kernel_at(improper, {1, 2});
    Stream stream = search_stream();
    const std::string message = message_of<ModelError>([&] {
      find_step_size(*kernel, {1, make_unit_metric(2)}, stream);
    });
    EXPECT_TRUE(mentions(message, "proper")) << message;
  }
}

TEST(FindStepSize, SaysThatNoStepIsSmallEnough) {
  // Usable only at the start.
  const auto only_at_start = [](bool throws) {
    return FunctionDensity(1, [throws](std::span<const double> x, std::span<double> gradient) {
      gradient[0] = 1;
      if (x[0] == 0.5) return 0.0;
      if (throws) throw std::domain_error("cannot go there");
      return std::numeric_limits<double>::quiet_NaN();
    });
  };
  for (const bool throws : {true, false}) {
    auto kernel = kernel_at(only_at_start(throws), {0.5});
    Stream stream = search_stream();
    const std::string message = message_of<ModelError>([&] {
      find_step_size(*kernel, {1, make_unit_metric(1)}, stream);
    });
    EXPECT_TRUE(mentions(message, "no step is small enough")) << message;
    EXPECT_EQ(mentions(message, "cannot go there"), throws) << message;
    EXPECT_TRUE(mentions(message, throws ? " 0 NaN" : " 0 exceptions")) << message;
  }
  // At zero a step of any length moves the point; at one, short steps end where they began.
  for (const double start : {0.0, 1.0}) {
    const FunctionDensity spike(1, [start](std::span<const double> x, std::span<double> gradient) {
      gradient[0] = 0;
      return x[0] == start ? 0.0 : -1e6;
    });
    auto kernel = kernel_at(spike, {start});
    Stream stream = search_stream();
    const std::string message = message_of<ModelError>([&] {
      find_step_size(*kernel, {1, make_unit_metric(1)}, stream);
    });
    EXPECT_TRUE(mentions(message, "no step is small enough")) << message;
  }
}

TEST(StepSizeSettings, AreChecked) {
  const auto check = [](const StepSizeSettings& settings) { check_settings(settings); };
  EXPECT_GE(testing::expect_settings_are_checked(StepSizeSettings{}, check), 20);
}

}  // namespace
}  // namespace rehmc::step_size_test
