// Metrics from weighted states against a direct computation with two passes.
#include "rehmc/adapt/metric_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "tests/dynamics/phase.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::metric_estimate_test {
namespace {

using testing::index;
using testing::Matrix;
using testing::Vector;

constexpr std::size_t dimension = 4;

/// M^{-1}, column by column.
Matrix inverse_mass(const Metric& metric) {
  const std::size_t d = metric.dimension();
  Matrix matrix = Matrix::Zero(index(d), index(d));
  for (std::size_t i = 0; i < d; ++i) {
    const Vector unit = Vector::Unit(index(d), index(i));
    metric.inverse_mass_times({unit.data(), d}, {matrix.col(index(i)).data(), d});
  }
  return matrix;
}

/// One draw: some states with weights that sum to 1, one of them the next state of the chain.
struct Draw {
  std::vector<Vector> states;
  std::vector<double> weights;
};

std::vector<Draw> make_draws(int count) {
  Stream stream({.seed = 8}, Purpose::test);
  Matrix root(index(dimension), index(dimension));
  for (auto column : root.colwise()) column = testing::normal_vector(stream, dimension);
  std::vector<Draw> draws(static_cast<std::size_t>(count));
  for (Draw& draw : draws) {
    double total = 0;
    for (std::uint64_t k = 0; k < 1 + stream.below(6); ++k) {
      draw.states.push_back(root * testing::normal_vector(stream, dimension) +
                            Vector::Constant(index(dimension), 30));
      draw.weights.push_back(stream.uniform());
      total += draw.weights.back();
    }
    for (double& weight : draw.weights) weight /= total;
  }
  return draws;
}

StateView view(const Vector& x) {
  return {{x.data(), static_cast<std::size_t>(x.size())}, {}, 0.0};
}

/// Feeds the draws as a kernel would.
MetricEstimate feed(MetricKind kind, MetricSource source, const std::vector<Draw>& draws) {
  const std::vector<double> centre(dimension, 28.0);
  MetricEstimate estimate(kind, source, centre);
  EXPECT_EQ(estimate.features() == nullptr, source == MetricSource::draws);
  for (const Draw& draw : draws) {
    Transition transition;
    transition.state = view(draw.states.back());
    std::vector<double> means;
    if (const Features* features = estimate.features()) {
      means.resize(features->size());
      for (std::size_t k = 0; k < draw.states.size(); ++k) {
        features->add(draw.weights[k], view(draw.states[k]), means);
      }
      transition.feature_means = features->by_name(means);
    }
    estimate.add(transition);
  }
  EXPECT_EQ(estimate.count(), draws.size());
  return estimate;
}

/// N/(5+N) Sigma + 5/(5+N) 1e-3 I, in two passes. Every draw has weight 1; divisor N - 1.
Matrix direct(MetricKind kind, MetricSource source, const std::vector<Draw>& draws) {
  const double n = static_cast<double>(draws.size());
  const auto average = [&](auto&& f) {
    auto sum = f(draws[0].states[0]);
    sum.setZero();
    for (const Draw& draw : draws) {
      if (source == MetricSource::draws) {
        sum += f(draw.states.back());
      } else {
        for (std::size_t k = 0; k < draw.states.size(); ++k) {
          sum += draw.weights[k] * f(draw.states[k]);
        }
      }
    }
    return Matrix(sum / n);
  };
  const Vector mean = average([](const Vector& x) { return Matrix(x); });
  const Matrix covariance = n / (n - 1) * average([&](const Vector& x) {
                              return Matrix((x - mean) * (x - mean).transpose());
                            });
  const Matrix shrunk = n / (5 + n) * covariance +
                        5 / (5 + n) * 1e-3 * Matrix::Identity(index(dimension), index(dimension));
  return kind == MetricKind::dense ? shrunk : Matrix(shrunk.diagonal().asDiagonal());
}

TEST(MetricEstimate, IsTheShrunkenWeightedCovariance) {
  for (const MetricKind kind : {MetricKind::diagonal, MetricKind::dense}) {
    for (const MetricSource source : {MetricSource::recycled, MetricSource::draws}) {
      for (const int count : {2, 3, 10, 500}) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + std::to_string(count));
        const std::vector<Draw> draws = make_draws(count);
        const auto metric = feed(kind, source, draws).metric();
        ASSERT_NE(metric, nullptr);
        EXPECT_EQ(metric->kind(), kind);
        const Matrix expected = direct(kind, source, draws);
        // Moments about a centre two units from the mean: only a few digits are lost.
        EXPECT_LT((inverse_mass(*metric) - expected).norm(), 1e-12 * expected.norm());
      }
    }
  }
}

TEST(MetricEstimate, RecycledAndPlainDiffer) {
  const std::vector<Draw> draws = make_draws(50);
  const Matrix recycled =
      inverse_mass(*feed(MetricKind::diagonal, MetricSource::recycled, draws).metric());
  const Matrix plain =
      inverse_mass(*feed(MetricKind::diagonal, MetricSource::draws, draws).metric());
  EXPECT_GT((recycled - plain).norm(), 1e-3 * plain.norm());
}

TEST(MetricEstimate, NeedsTwoDrawsAndFiniteOnes) {
  for (const MetricKind kind : {MetricKind::diagonal, MetricKind::dense}) {
    EXPECT_EQ(feed(kind, MetricSource::draws, {}).metric(), nullptr);
    EXPECT_EQ(feed(kind, MetricSource::draws, make_draws(1)).metric(), nullptr);
    for (const double wrong : {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(), 1e200}) {
      for (const MetricSource source : {MetricSource::recycled, MetricSource::draws}) {
        std::vector<Draw> draws = make_draws(20);
        draws[7].states.back()[2] = wrong;
        EXPECT_EQ(feed(kind, source, draws).metric(), nullptr) << describe(kind) << ", " << wrong;
      }
    }
  }
}

// Draws that never move give the ridge alone; with fewer draws than dimensions, it keeps the matrix
// positive.
TEST(MetricEstimate, TheRidgeKeepsItPositive) {
  for (const MetricKind kind : {MetricKind::diagonal, MetricKind::dense}) {
    std::vector<Draw> draws(10, Draw{{Vector::Constant(index(dimension), 28.5)}, {1.0}});
    const auto still = feed(kind, MetricSource::draws, draws).metric();
    ASSERT_NE(still, nullptr);
    const Matrix expected = 5.0 / 15 * 1e-3 * Matrix::Identity(index(dimension), index(dimension));
    EXPECT_LT((inverse_mass(*still) - expected).norm(), 1e-15);
    EXPECT_NE(feed(kind, MetricSource::draws, make_draws(2)).metric(), nullptr);
  }
}

TEST(MetricEstimate, EstimatesDiagonalAndDenseOnly) {
  for (const MetricKind kind : {MetricKind::unit, MetricKind::low_rank}) {
    const std::string message = testing::message_of<ConfigError>(
        [&] { MetricEstimate(kind, MetricSource::draws, std::vector<double>(2)); });
    EXPECT_TRUE(testing::mentions(message, "diagonal or a dense")) << message;
  }
}

}  // namespace
}  // namespace rehmc::metric_estimate_test
