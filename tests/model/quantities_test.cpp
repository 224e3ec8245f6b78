// What users read of a state: coordinates by default, otherwise what the model declares.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc::quantities_test {
namespace {

struct Plain {
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = -x[i];
    return 0;
  }
  std::size_t dimension() const { return 2; }
};

/// Reported as (exp(x.2), something random).
struct Read : Plain {
  std::vector<Quantity> quantities() const { return {{"scale", 1}, {"noise", {}, true}}; }
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const {
    values[0] = std::exp(x[1]);
    values[1] = stream ? stream->uniform() : std::numeric_limits<double>::quiet_NaN();
  }
};

TEST(Quantities, AreTheCoordinatesByDefault) {
  Density density{Plain{}};
  EXPECT_TRUE(density.reads_coordinates());
  const std::vector<Quantity> quantities = density.quantities();
  ASSERT_EQ(quantities.size(), 2U);
  EXPECT_EQ(quantities[1].name, "x.2");
  EXPECT_EQ(quantities[1].coordinate, 1U);
  EXPECT_FALSE(quantities[1].generated);
  const std::vector<double> x{3, 4};
  std::vector<double> values(2);
  density.evaluate_quantities(x, values, nullptr);
  EXPECT_EQ(values, x);
}

TEST(Quantities, AreWhatTheModelDeclares) {
  Density density{Read{}};
  EXPECT_FALSE(density.reads_coordinates());
  EXPECT_EQ(density.quantities()[0].name, "scale");
  const std::vector<double> x{3, 0};
  std::vector<double> values(2);
  Stream stream(Address{1, 2, 3}, Purpose::generated);
  density.evaluate_quantities(x, values, &stream);
  EXPECT_EQ(values[0], 1);
  EXPECT_GT(values[1], 0);
  Density copy = density;
  copy.evaluate_quantities(x, values, nullptr);
  EXPECT_TRUE(std::isnan(values[1]));
}

}  // namespace
}  // namespace rehmc::quantities_test
