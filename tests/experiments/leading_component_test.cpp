// The leading component of known matrices, and of samples.
#include "experiments/leading_component.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "rehmc/core/random.hpp"

namespace rehmc::experiments {
namespace {

constexpr std::size_t dimension = 12;

/// Coordinates turned by an angle in the plane of the first and the last.
std::vector<double> turned(std::vector<double> x, double angle) {
  const double first = x.front();
  const double last = x.back();
  x.front() = std::cos(angle) * first - std::sin(angle) * last;
  x.back() = std::sin(angle) * first + std::cos(angle) * last;
  return x;
}

/// 2 d states whose covariance is diagonal with these variances, turned and moved.
void add_states(Products& products, const std::vector<double>& variances, double angle,
                double weight = 1) {
  for (std::size_t i = 0; i < dimension; ++i) {
    for (const double sign : {-1.0, 1.0}) {
      std::vector<double> x(dimension);
      x[i] = sign * std::sqrt(variances[i] * dimension);
      x = turned(x, angle);
      for (double& entry : x) entry += 100;
      products.add(x, weight);
    }
  }
}

std::vector<double> variances_of() {
  std::vector<double> variances(dimension, 0.1);
  variances[dimension - 1] = 4;
  variances[dimension - 2] = 3;    // not below half of it
  variances[dimension - 3] = 1;    // the first below
  variances[dimension - 4] = 0.9;  // outside the plane
  return variances;
}

TEST(LeadingComponent, OfIndependentCoordinates) {
  const LeadingPlane plane = leading_plane(variances_of());
  EXPECT_EQ(plane.eigenvalue, 4);
  ASSERT_EQ(plane.directions.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(plane.directions[k][dimension - 1 - k], 1);
}

TEST(LeadingComponent, IsFoundInStates) {
  Products products(std::vector<double>(dimension, 99.5));
  add_states(products, variances_of(), 0.3, 0.25);
  const LeadingPlane plane = products.plane();
  EXPECT_NEAR(plane.eigenvalue, 4, 1e-4);
  ASSERT_EQ(plane.directions.size(), 3U);
  EXPECT_NEAR(std::abs(plane.directions[0][0]), std::sin(0.3), 1e-4);
  EXPECT_NEAR(std::abs(plane.directions[0][dimension - 1]), std::cos(0.3), 1e-4);
}

TEST(LeadingComponent, ErrorsAreTheAngleToThePlaneAndTheEigenvaluesError) {
  // Turned towards the first coordinate, which is outside the plane.
  for (const double angle : {0.02, 0.3}) {
    Products products(std::vector<double>(dimension, 100));
    std::vector<double> wider = variances_of();
    wider.back() = 4.5;
    add_states(products, wider, angle);
    const auto [angle_error, eigenvalue_error] =
        products.squared_errors(leading_plane(variances_of()));
    EXPECT_NEAR(std::sqrt(angle_error), angle, 1e-3);
    EXPECT_NEAR(eigenvalue_error, 0.25, 1e-3);
  }
  // Within the plane there is no error: the two largest change places.
  Products products(std::vector<double>(dimension, 100));
  std::vector<double> other = variances_of();
  std::swap(other[dimension - 1], other[dimension - 2]);
  other[dimension - 2] = 5;
  add_states(products, other, 0);
  EXPECT_LT(products.squared_errors(leading_plane(variances_of()))[0], 1e-6);
}

TEST(LeadingComponent, StoredSumsContinue) {
  Products whole(std::vector<double>(dimension, 100));
  add_states(whole, variances_of(), 0.2);
  add_states(whole, std::vector<double>(dimension, 1), 0);
  Products first(std::vector<double>(dimension, 100));
  Products second(std::vector<double>(dimension, 100));
  add_states(first, variances_of(), 0.2);
  add_states(second, std::vector<double>(dimension, 1), 0);
  PackedProducts packed;
  packed.add(first.packed());
  packed.add(second.packed());
  const LeadingPlane expected = whole.plane();
  const LeadingPlane found = Products(std::vector<double>(dimension, 100), packed).plane();
  EXPECT_NEAR(found.eigenvalue, expected.eigenvalue, 1e-5);
  ASSERT_EQ(found.directions.size(), expected.directions.size());
  EXPECT_NEAR(std::abs(found.directions[0][0]), std::abs(expected.directions[0][0]), 1e-4);
}

TEST(LeadingComponent, OfManyRandomStatesIsThatOfTheirLaw) {
  // 300 coordinates, 20,000 normals: the angle's error is about sqrt(300 / 20000 * 0.25) / (1 -
  // 0.25) = 0.08, so that 0.2 is far beyond it.
  constexpr std::size_t d = 300;
  std::vector<double> variances(d, 0.25);
  variances[7] = 1;
  Products products(std::vector<double>(d, 0.0));
  Stream stream({5, 0, 0}, Purpose::test);
  std::vector<double> x(d);
  for (int n = 0; n < 20'000; ++n) {
    for (std::size_t i = 0; i < d; ++i) x[i] = std::sqrt(variances[i]) * stream.normal();
    products.add(x, 1);
  }
  LeadingPlane line{{std::vector<double>(d)}, 1};
  line.directions[0][7] = 1;
  const auto errors = products.squared_errors(line);
  EXPECT_LT(std::sqrt(errors[0]), 0.2);
  EXPECT_LT(std::sqrt(errors[1]), 0.06);
}

}  // namespace
}  // namespace rehmc::experiments
