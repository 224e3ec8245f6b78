// Invalid metrics: each gives a ConfigError with the reason.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "tests/dynamics/phase.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::metric_input_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using testing::mentions;

std::string message_of(const std::function<std::shared_ptr<const Metric>()>& make) {
  return testing::message_of<ConfigError>(make);
}

TEST(MetricInput, DiagonalEntriesMustBePositiveAndFinite) {
  for (const double wrong : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity}) {
    std::vector<double> variances(9, 1.0);
    variances[6] = wrong;
    const std::string message = message_of([&] { return make_diagonal_metric(variances); });
    EXPECT_TRUE(mentions(message, "diagonal metric: entry 7 is")) << message;
    EXPECT_TRUE(mentions(message, "positive")) << message;
  }
}

TEST(MetricInput, DimensionZeroIsRefused) {
  for (const std::string& message :
       {message_of([] { return make_unit_metric(0); }),
        message_of([] { return make_diagonal_metric({}); }),
        message_of([] { return make_dense_metric(0, {}); }), message_of([] {
          return make_low_rank_metric({{}, {}, {}});
        })}) {
    EXPECT_TRUE(mentions(message, "dimension 0") || mentions(message, "empty")) << message;
  }
}

TEST(MetricInput, DenseMatrixMustBeSquare) {
  const std::string message =
      message_of([] { return make_dense_metric(3, std::vector<double>(8, 1.0)); });
  EXPECT_TRUE(mentions(message, "found 8 numbers, expected 3 x 3")) << message;
}

TEST(MetricInput, DenseMatrixMustBeFinite) {
  for (const std::size_t d : {1U, 2U, 9U, 40U}) {
    for (const double wrong : {not_a_number, infinity, -infinity}) {
      for (const std::size_t entry : {std::size_t{0}, d - 1, d * d / 2, d * d - 1}) {
        std::vector<double> matrix =
            testing::numbers(testing::Matrix::Identity(testing::index(d), testing::index(d)));
        matrix[entry] = wrong;
        matrix[entry % d * d + entry / d] = wrong;
        const std::string message = message_of([&] { return make_dense_metric(d, matrix); });
        EXPECT_TRUE(mentions(message, "dense metric") && mentions(message, "finite"))
            << "dimension " << d << ", entry " << entry << ", " << wrong << ": " << message;
      }
    }
  }
}

TEST(MetricInput, DenseMatrixMustBeSymmetric) {
  const std::string message = message_of([] {
    return make_dense_metric(2, std::vector{1.0, 0.5, 0.4, 1.0});
  });
  EXPECT_TRUE(mentions(message, "symmetric")) << message;
  // Checked on the scale of its own coordinates, not of the largest one.
  const std::vector small_block{1e8, 0.0, 0.0, 0.0, 1e-4, 0.5e-4, 0.0, -0.5e-4, 1e-4};
  const std::string small = message_of([&] { return make_dense_metric(3, small_block); });
  EXPECT_TRUE(mentions(small, "symmetric")) << small;
  EXPECT_NO_THROW(make_dense_metric(2, std::vector{1.0, 0.5, 0.5 * (1 + 1e-12), 1.0}));
}

TEST(MetricInput, DenseMatrixMustBePositiveDefinite) {
  const std::vector<std::vector<double>> matrices{{1, 2, 2, 1},    // indefinite
                                                  {1, 1, 1, 1},    // singular
                                                  {0, 0, 0, 1},    // a zero variance
                                                  {1, 0, 0, -1},   // a negative one
                                                  {-1, 0, 0, -1},  // negative definite
                                                  {0, 0, 0, 0}};
  for (const auto& matrix : matrices) {
    const std::string message = message_of([&] { return make_dense_metric(2, matrix); });
    EXPECT_TRUE(mentions(message, "not positive definite")) << message;
  }
}

TEST(MetricInput, LowRankPartsMustFit) {
  const auto build = [](std::vector<double> scale, std::vector<double> directions,
                        std::vector<double> stretch) {
    return message_of([=] { return make_low_rank_metric({scale, directions, stretch}); });
  };
  for (const double wrong : {0.0, -1.0, not_a_number, infinity}) {
    EXPECT_TRUE(mentions(build({1, wrong}, {1, 0}, {2}), "scale"));
    EXPECT_TRUE(mentions(build({1, 1}, {1, 0}, {wrong}), "stretch"));
  }
  EXPECT_TRUE(mentions(build({1, 1}, {1, 0, 0}, {2}), "direction"));
  EXPECT_TRUE(mentions(build({1, 1}, {1, 1}, {2}), "direction"));
  EXPECT_TRUE(mentions(build({1, 1}, {1, not_a_number}, {2}), "direction"));
}

TEST(MetricInput, DiagonalOfTheInverseIsWhatWasGiven) {
  for (const testing::MetricCase& c : testing::every_metric(9)) {
    const std::vector<double> diagonal = c.metric->inverse_diagonal();
    ASSERT_EQ(diagonal.size(), 9U);
    EXPECT_EQ(c.metric->dimension(), 9U);
    EXPECT_EQ(c.name, describe(c.metric->kind()));
    for (std::size_t i = 0; i < 9; ++i) {
      const double expected = c.inverse_mass(testing::index(i), testing::index(i));
      EXPECT_NEAR(diagonal[i], expected, 1e-14 * expected) << c.name;
    }
  }
}

TEST(MetricInput, ProductsAreWithTheInverseThatWasGiven) {
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(9, -1, 2);
  for (const testing::MetricCase& c : testing::every_metric(9)) {
    std::vector<double> product(9);
    c.metric->inverse_mass_times({x.data(), 9}, product);
    const Eigen::VectorXd expected = c.inverse_mass * x;
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(product[i], expected[testing::index(i)], 1e-13 * expected.norm()) << c.name;
    }
  }
}

}  // namespace
}  // namespace rehmc::metric_input_test
