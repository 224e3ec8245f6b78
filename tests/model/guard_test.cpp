// The guard: every way a model can fail, counted while sampling and explained at a start.
#include "rehmc/model/guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "tests/model/messages.hpp"

namespace rehmc::testing::guard_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A model that returns and writes what it is told to, whatever the point.
struct Puppet {
  double value = -1;
  std::vector<double> entries{0.5, -0.5, 2};
  std::size_t size = 3;

  double operator()(std::span<const double> /*x*/, std::span<double> gradient) const {
    // Through the pointer: a model in C does not check bounds.
    std::copy(entries.begin(), entries.end(), gradient.data());
    return value;
  }
  std::size_t dimension() const { return size; }
  std::vector<std::string> names() const { return {"mu", "log_tau", "theta.1"}; }
};

struct Thrower {
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    if (x[0] > 0) throw std::domain_error("x is " + std::to_string(x[0]));
    if (x[0] < -1) throw 42;  // NOLINT: other people's models may throw this
    gradient[0] = -x[0];
    return -0.5 * x[0] * x[0];
  }
  std::size_t dimension() const { return 1; }
};

const std::vector<double> point{0.25, 0.5, 0.75};

TEST(Guard, PassesOnWhatIsRight) {
  Guard guard(Puppet{});
  std::vector<double> gradient(3);
  EXPECT_EQ(guard(point, gradient), -1);
  EXPECT_EQ(gradient, (std::vector<double>{0.5, -0.5, 2}));
  EXPECT_EQ(guard.evaluate_strictly(point, gradient), -1);
  EXPECT_EQ(gradient, (std::vector<double>{0.5, -0.5, 2}));
  EXPECT_EQ(guard.evaluations(), 2U);
  EXPECT_EQ(guard.last_fault(), Fault::none);
  EXPECT_EQ(guard.first_message(), "");
}

TEST(Guard, CountsEveryFaultByItsCause) {
  const std::vector<double> right{1, 1, 1};
  struct Case {
    Puppet model;
    Fault fault;
  };
  const Case cases[] = {
      {{.value = not_a_number}, Fault::not_a_number},
      {{.value = infinity}, Fault::positive_infinity},
      {{.value = -infinity}, Fault::negative_infinity},
      {{.entries = {1, not_a_number, 1}}, Fault::bad_gradient},
      {{.entries = {1, 1, infinity}}, Fault::bad_gradient},
      {{.entries = {-infinity, 1, 1}}, Fault::bad_gradient},
  };
  for (const auto& [model, fault] : cases) {
    Guard guard(model);
    std::vector<double> gradient(3);
    EXPECT_EQ(guard(point, gradient), -infinity) << describe(fault);
    EXPECT_EQ(guard(point, gradient), -infinity) << describe(fault);
    EXPECT_EQ(guard.last_fault(), fault) << describe(fault);
    EXPECT_EQ(guard.faults(fault), 2U) << describe(fault);
    EXPECT_EQ(guard.evaluations(), 2U);
    EXPECT_EQ(guard.faults(Fault::none), 0U);
  }
}

// Every position of a long gradient, and the largest finite numbers, which are not faults.
TEST(Guard, SeesABadEntryWhereverItIs) {
  for (const std::size_t size : {1UL, 7UL, 8UL, 9UL, 64UL, 250UL}) {
    for (std::size_t i = 0; i < size; ++i) {
      Puppet model{.entries = std::vector<double>(size, -1.7976931348623157e308), .size = size};
      const std::vector<double> x(size);
      std::vector<double> gradient(size);
      EXPECT_EQ(Guard(model)(x, gradient), -1);
      for (const double bad : {infinity, -infinity, not_a_number, -not_a_number}) {
        model.entries[i] = bad;
        EXPECT_EQ(Guard(model)(x, gradient), -infinity) << i << " of " << size;
      }
    }
  }
}

TEST(Guard, CatchesExceptionsAndKeepsTheFirstMessage) {
  Guard guard(Thrower{});
  std::vector<double> gradient(1);
  EXPECT_EQ(guard(std::vector{2.0}, gradient), -infinity);
  EXPECT_EQ(guard(std::vector{3.0}, gradient), -infinity);
  EXPECT_EQ(guard(std::vector{-3.0}, gradient), -infinity);
  EXPECT_EQ(guard.faults(Fault::exception), 3U);
  EXPECT_EQ(guard.first_message(), "x is 2.000000");
  EXPECT_EQ(guard(std::vector{-1.0}, gradient), -0.5);
  EXPECT_EQ(guard.last_fault(), Fault::none);
}

TEST(Guard, NamesAnExceptionThatHasNoMessage) {
  Guard guard(Thrower{});
  std::vector<double> gradient(1);
  EXPECT_EQ(guard(std::vector{-3.0}, gradient), -infinity);
  EXPECT_EQ(guard.first_message(), "(an exception that is not a std::exception)");
}

TEST(Guard, RefusesDimensionZeroAndNegative) {
  expect_says(message_of<ModelError>([] { Guard(Puppet{.size = 0}); }), {"dimension 0"});
  expect_says(message_of<ModelError>([] { Guard(Puppet{.size = static_cast<std::size_t>(-1)}); }),
              {"negative"});
}

TEST(Guard, RefusesTheWrongNumberOfNames) {
  const Density density(Puppet{.entries = {1, 1}, .size = 2});
  expect_says(message_of<ModelError>([&] { density.names(); }), {"dimension 2", "3 names"});
}

std::string strict_message(Density density, std::span<const double> x) {
  Guard guard(std::move(density));
  std::vector<double> gradient(guard.dimension());
  return message_of<ModelError>([&] { guard.evaluate_strictly(x, gradient); });
}

TEST(StrictEvaluation, ReportsWhichValueAndWhere) {
  expect_says(strict_message(Puppet{.value = not_a_number}, point),
              {"log density is NaN", "mu = 0.25, log_tau = 0.5, theta[1] = 0.75"});
  expect_says(strict_message(Puppet{.value = infinity}, point), {"+inf", "mu = 0.25"});
  expect_says(strict_message(Puppet{.value = -infinity}, point), {"-inf", "outside the support"});
}

TEST(StrictEvaluation, ReportsWhichEntryOfTheGradient) {
  expect_says(strict_message(Puppet{.entries = {1, -infinity, 1}}, point),
              {"log_tau (coordinate 2 of 3)", "-inf"});
  expect_says(strict_message(Puppet{.entries = {1, not_a_number, infinity}}, point),
              {"log_tau (coordinate 2 of 3) and 1 more", "nan"});
}

TEST(StrictEvaluation, RepeatsTheModelsMessage) {
  expect_says(strict_message(Thrower{}, std::vector{2.0}), {"x is 2.000000", "x[1] = 2"});
  // Not those of an earlier call.
  Guard guard(Thrower{});
  std::vector<double> gradient(1);
  guard(std::vector{2.0}, gradient);
  expect_says(message_of<ModelError>([&] { guard.evaluate_strictly(std::vector{7.0}, gradient); }),
              {"x is 7.000000"});
  EXPECT_EQ(guard.first_message(), "x is 2.000000");
}

TEST(StrictEvaluation, NoticesAGradientThatIsTooShort) {
  expect_says(strict_message(Puppet{.entries = {1, 1}}, point),
              {"did not write the gradient of theta[1] (coordinate 3 of 3)", "all 3 entries"});
  expect_says(strict_message(Puppet{.entries = {}}, point), {"mu (coordinate 1 of 3) and 2 more"});
}

TEST(StrictEvaluation, NoticesAGradientThatIsAddedToInsteadOfSet) {
  const FunctionDensity adds(2, [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = -x[0];
    gradient[1] += -x[1];
    return -0.5 * (x[0] * x[0] + x[1] * x[1]);
  });
  expect_says(strict_message(adds, std::vector{1.0, 2.0}), {"x[2]", "not add to"});
}

TEST(StrictEvaluation, NoticesAGradientThatIsTooLong) {
  expect_says(strict_message(Puppet{.entries = {1, 1, 1, 1, 1}}, point),
              {"wrote past the end", "dimension is 3", "wrote entry 5"});
  Guard guard(Puppet{.entries = {1, 1, 1, 1}});
  std::vector<double> gradient(3);
  EXPECT_THROW(guard.evaluate_strictly(point, gradient), GradientLengthError);
  EXPECT_EQ(guard.last_fault(), Fault::bad_gradient);
  EXPECT_EQ(guard.faults(Fault::bad_gradient), 1U);
}

TEST(StrictEvaluation, NoticesAGradientOfTwiceTheLength) {
  const FunctionDensity doubled(100, [](std::span<const double>, std::span<double> gradient) {
    std::fill_n(gradient.data(), 200, 1.0);
    return -1.0;
  });
  expect_says(strict_message(doubled, std::vector<double>(100)), {"wrote entry 200"});
}

// A model that returns -inf early need not write the gradient.
TEST(StrictEvaluation, BlamesTheValueBeforeTheGradient) {
  expect_says(strict_message(Puppet{.value = -infinity, .entries = {}}, point), {"-inf"});
}

TEST(StrictEvaluation, NamesBothLengths) {
  expect_says(strict_message(Puppet{}, std::vector{1.0, 2.0}), {"dimension 3", "length 2"});
}

TEST(StrictEvaluation, NamesACoordinateThatIsNotFinite) {
  expect_says(strict_message(Puppet{}, std::vector{1.0, infinity, 2.0}),
              {"log_tau (coordinate 2 of 3)", "inf"});
}

TEST(Guard, EveryFaultHasItsDescription) {
  for (std::size_t i = 0; i < fault_count; ++i) {
    EXPECT_NE(describe(static_cast<Fault>(i)), "unknown fault");
  }
}

TEST(Density, CopiesAreIndependent) {
  struct Counting {
    int calls = 0;
    double operator()(std::span<const double> /*x*/, std::span<double> gradient) {
      gradient[0] = 0;
      return ++calls;
    }
    std::size_t dimension() const { return 1; }
  };
  Density first{Counting{}};
  const std::vector<double> x(1);
  std::vector<double> gradient(1);
  first(x, gradient);
  Density second = first;
  EXPECT_EQ(second(x, gradient), 2);
  EXPECT_EQ(first(x, gradient), 2);
  second = first;
  EXPECT_EQ(second(x, gradient), 3);
}

}  // namespace
}  // namespace rehmc::testing::guard_test
