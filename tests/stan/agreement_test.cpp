// Stan programs and our own densities of the same models: the same values and gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "models/registry.hpp"
#include "models/varying_intercepts.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "stan/model.hpp"
#include "stan/start_check.hpp"
#include "stan/toolchain.hpp"

namespace rehmc::stan::agreement_test {
namespace {

const std::filesystem::path examples = REHMC_EXAMPLES_STAN;

class Agreement : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!status(Part::interpreter).installed) install(Part::interpreter);
  }
};

FileModel example(const std::string& name) {
  const std::filesystem::path data = examples / (name + ".json");
  return make_file_model(examples / (name + ".stan"), read_file(data), data.string(), {});
}

/// Both differ by a constant at most, and their gradients not at all.
void expect_same(const Density& one, const Density& other) {
  ASSERT_EQ(one.dimension(), other.dimension());
  Density first = one;
  Density second = other;
  const std::size_t dimension = first.dimension();
  std::vector<double> x(dimension);
  std::vector<double> gradient(dimension);
  std::vector<double> second_gradient(dimension);
  Stream stream(Address{}, Purpose::test);
  double constant = 0;
  for (int point = 0; point < 20; ++point) {
    for (double& each : x) each = 4 * stream.uniform() - 2;
    const double value = first(x, gradient);
    const double second_value = second(x, second_gradient);
    if (point == 0) constant = second_value - value;
    EXPECT_NEAR(second_value - value, constant, 1e-10 * (1 + std::abs(value)));
    for (std::size_t i = 0; i < dimension; ++i) {
      EXPECT_NEAR(gradient[i], second_gradient[i], 1e-10 * (1 + std::abs(gradient[i])));
    }
  }
}

TEST_F(Agreement, EightSchools) {
  expect_same(example("eight_schools").density,
              make_model("eight-schools", read_file(examples / "eight_schools.json"), "f").density);
}

TEST_F(Agreement, LogisticRegression) {
  const std::string data = read_file(examples / "logistic_regression.json");
  const std::string ours = "{" + data.substr(data.find("\"x\""));
  expect_same(example("logistic_regression").density,
              make_model("logistic-regression", ours, "f").density);
}

/// Our multilevel model with the example's prior of the slope, which is tighter than that of the
/// intercept.
struct VaryingInterceptsOfExample : VaryingIntercepts {
  using VaryingIntercepts::VaryingIntercepts;
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    constexpr double more = 1 / (slope_sd * slope_sd) - 1 / (intercept_sd * intercept_sd);
    const double value = VaryingIntercepts::operator()(x, gradient);
    gradient[1] -= more * x[1];
    return value - more * x[1] * x[1] / 2;
  }
  static constexpr double intercept_sd = 5;
  static constexpr double slope_sd = 2;
  static constexpr double scale_sd = 2;
};

TEST_F(Agreement, VaryingIntercepts) {
  const auto data = nlohmann::json::parse(read_file(examples / "varying_intercepts.json"));
  const GroupedData grouped{data.at("group"), data.at("x"), data.at("y")};
  using Ours = VaryingInterceptsOfExample;
  expect_same(example("varying_intercepts").density,
              Ours(grouped, {.location_sd = Ours::intercept_sd, .scale_sd = Ours::scale_sd}));
}

TEST_F(Agreement, OffsetsAndMultipliersAreKnown) {
  for (const Quantity& quantity : example("varying_intercepts").density.quantities()) {
    const bool offset = quantity.name.starts_with("offset_of_group.");
    EXPECT_EQ(quantity.scaled.has_value(), offset) << quantity.name;
    if (!offset) continue;
    EXPECT_FALSE(quantity.scaled->offset.has_value());
    EXPECT_EQ(quantity.scaled->multiplier, (MappedCoordinate{2, CoordinateMap::exponential}));
  }
}

TEST_F(Agreement, QuantitiesOfOneCoordinateAreKnown) {
  for (const Quantity& quantity : example("constraints").density.quantities()) {
    const std::string name = quantity.name.substr(0, quantity.name.find('.'));
    EXPECT_EQ(quantity.coordinate.has_value(), name == "bounded" || name == "capped" ||
                                                   name == "scale" || quantity.name == "cut.1" ||
                                                   quantity.name == "level.1")
        << quantity.name;
  }
  // Its bound is another parameter.
  for (const Quantity& quantity : example("garch").density.quantities()) {
    if (quantity.name != "alpha1" && quantity.name != "beta1") continue;
    EXPECT_EQ(quantity.coordinate.has_value(), quantity.name == "alpha1");
  }
}

}  // namespace
}  // namespace rehmc::stan::agreement_test
