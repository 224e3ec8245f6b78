// Momenta of every metric: their law, their energy, and the products of the turning criterion.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "tests/dynamics/phase.hpp"

namespace rehmc::momentum_test {
namespace {

using testing::edge_dimensions;
using testing::every_metric;
using testing::index;
using testing::Matrix;
using testing::MetricCase;
using testing::Point;
using testing::Vector;

constexpr double unit_round_off = std::numeric_limits<double>::epsilon();

/// The largest z-score among means, variances and covariances of N vectors that should be standard
/// normal, and how many scores there are.
struct WorstScore {
  double score = 0;
  double count = 0;

  void look_at(double z) {
    score = std::max(score, std::abs(z));
    ++count;
  }
};

WorstScore worst_of_standard_normal(const Matrix& vectors) {
  WorstScore worst;
  const double n = static_cast<double>(vectors.cols());
  const Matrix products = vectors * vectors.transpose();
  for (Eigen::Index i = 0; i < vectors.rows(); ++i) {
    worst.look_at(vectors.row(i).sum() / std::sqrt(n));
    // Wilson and Hilferty (1931): the cube root of chi-square / n is normal to high accuracy.
    worst.look_at((std::cbrt(products(i, i) / n) - (1 - 2 / (9 * n))) / std::sqrt(2 / (9 * n)));
    // Given row j, the products sum to a normal with variance |row j|^2: exact.
    for (Eigen::Index j = 0; j < i; ++j) {
      worst.look_at(products(i, j) / std::sqrt(products(j, j)));
    }
  }
  return worst;
}

/// Draws momenta and whitens them by `inverse_mass` = L L': L' p is standard normal if p ~ N(0, M).
WorstScore worst_of_momenta(const Metric& metric, const Matrix& inverse_mass, int draws) {
  Point point(metric);
  Stream stream({.seed = 5}, Purpose::momentum);
  const Eigen::LLT<Matrix> cholesky(inverse_mass);
  Matrix whitened(inverse_mass.rows(), draws);
  for (int n = 0; n < draws; ++n) {
    metric.draw_momentum(stream, {point.momentum(), metric.dimension()});
    whitened.col(n) = cholesky.matrixU() * point.p();
  }
  return worst_of_standard_normal(whitened);
}

// False alarms: at most 1e-6 over all metrics and dimensions together (Bonferroni over the scores).
TEST(Momentum, HasVarianceM) {
  constexpr int draws = 20000;
  WorstScore overall;
  for (const std::size_t d : {1U, 7U, 9U}) {
    for (const MetricCase& c : every_metric(d)) {
      const WorstScore worst = worst_of_momenta(*c.metric, c.inverse_mass, draws);
      overall.score = std::max(overall.score, worst.score);
      overall.count += worst.count;
    }
  }
  EXPECT_LT(overall.score, -normal_quantile(1e-6 / (2 * overall.count))) << overall.count;
}

TEST(Momentum, WithVarianceOfTheInverseFailsTheSameTest) {
  for (const MetricCase& c : every_metric(7)) {
    if (c.metric->kind() == MetricKind::unit) continue;
    EXPECT_GT(worst_of_momenta(*c.metric, c.inverse_mass.inverse(), 2000).score, 10) << c.name;
  }
}

TEST(Momentum, EnergyAndVelocityBelongToTheDraw) {
  for (const std::size_t d : edge_dimensions) {
    for (const MetricCase& c : every_metric(d)) {
      SCOPED_TRACE(c.name + ", dimension " + std::to_string(d));
      const Point point = testing::start(*c.metric, testing::bumpy, d);
      const Vector size = c.magnitude * point.p().cwiseAbs();
      const double operations = 4 * static_cast<double>(d + 4) * unit_round_off;
      EXPECT_NEAR(point.kinetic, 0.5 * point.p().dot(c.inverse_mass * point.p()),
                  operations * point.p().cwiseAbs().dot(size));
      EXPECT_TRUE(point.padding_is_zero());
      if (!point.stores_velocity()) continue;
      const Vector velocity = c.inverse_mass * point.p();
      const Vector product = c.inverse_mass * point.g();
      const Vector product_size = c.magnitude * point.g().cwiseAbs();
      for (Eigen::Index i = 0; i < index(d); ++i) {
        EXPECT_NEAR(point.stored_velocity()[i], velocity[i], operations * size[i]);
        EXPECT_NEAR(point.stored_product()[i], product[i], operations * product_size[i]);
      }
    }
  }
}

TEST(Momentum, OfAUnitMetricIsThatOfADiagonalOneOfOnes) {
  for (const std::size_t d : edge_dimensions) {
    const auto unit = make_unit_metric(d);
    const auto ones = make_diagonal_metric(std::vector<double>(d, 1.0));
    Point a = testing::start(*unit, testing::bumpy, d);
    Point b = testing::start(*ones, testing::bumpy, d);
    for (int n = 0; n < 5; ++n) {
      EXPECT_EQ(a.x(), b.x());
      EXPECT_EQ(a.p(), b.p());
      EXPECT_EQ(a.kinetic, b.kinetic);
      a = testing::leapfrog(*unit, testing::bumpy, 0.2, a);
      b = testing::leapfrog(*ones, testing::bumpy, 0.2, b);
    }
  }
}

// The same stream gives the same momenta and steps, whatever the form of the metric.
TEST(Momentum, OfADenseMetricThatIsDiagonalIsThatOfTheDiagonalOne) {
  for (const std::size_t d : edge_dimensions) {
    SCOPED_TRACE(d);
    const MetricCase diagonal = every_metric(d)[1];
    const Vector scales = diagonal.inverse_mass.diagonal().cwiseSqrt();
    const auto dense = make_dense_metric(d, testing::numbers(diagonal.inverse_mass));
    const auto low_rank = make_low_rank_metric({testing::numbers(scales), {}, {}});
    Point a = testing::start(*diagonal.metric, testing::bumpy, d);
    Point b = testing::start(*dense, testing::bumpy, d);
    Point c = testing::start(*low_rank, testing::bumpy, d);
    for (int n = 0; n < 5; ++n) {
      for (const Point* other : {&b, &c}) {
        EXPECT_LT((other->x() - a.x()).norm(), 1e-13 * (1 + a.x().norm()));
        EXPECT_LT((other->p() - a.p()).norm(), 1e-13 * (1 + a.p().norm()));
        EXPECT_NEAR(other->kinetic, a.kinetic, 1e-13 * (1 + a.kinetic));
      }
      a = testing::leapfrog(*diagonal.metric, testing::bumpy, 0.2, a);
      b = testing::leapfrog(*dense, testing::bumpy, 0.2, b);
      c = testing::leapfrog(*low_rank, testing::bumpy, 0.2, c);
    }
  }
}

/// Inner products x' M^{-1} y by plain matrix products.
struct NaiveProducts {
  const MetricCase& metric;

  void expect(double found, const Vector& x, const Vector& y, const char* what) const {
    const double size = x.cwiseAbs().dot(metric.magnitude * y.cwiseAbs());
    const double operations = 4 * static_cast<double>(y.size() + 4) * unit_round_off;
    EXPECT_NEAR(found, x.dot(metric.inverse_mass * y), operations * size) << what;
  }
  void expect(const JoinProducts& found, const std::vector<Vector>& left,
              const std::vector<Vector>& right) const {
    const auto sum_of = [](const std::vector<Vector>& segment) {
      Vector sum = Vector::Zero(segment.front().size());
      for (const Vector& p : segment) sum += p;
      return sum;
    };
    expect(found.left_first_right_sum, left.front(), sum_of(right), "left first, right sum");
    expect(found.left_last_right_sum, left.back(), sum_of(right), "left last, right sum");
    expect(found.right_first_left_sum, right.front(), sum_of(left), "right first, left sum");
    expect(found.right_last_left_sum, right.back(), sum_of(left), "right last, left sum");
    expect(found.firsts, left.front(), right.front(), "firsts");
    expect(found.lasts, left.back(), right.back(), "lasts");
  }
};

TEST(Turning, ProductsAreThoseOfMomentumSums) {
  for (const std::size_t d : edge_dimensions) {
    for (const MetricCase& c : every_metric(d)) {
      SCOPED_TRACE(c.name + ", dimension " + std::to_string(d));
      std::vector<Point> states;
      std::vector<Vector> momenta;
      for (std::uint64_t k = 0; k < 8; ++k) {
        states.push_back(testing::start(*c.metric, testing::bumpy, k));
        momenta.push_back(states.back().p());
      }
      const NaiveProducts naive{c};
      const auto passes = make_leapfrog_passes(*c.metric);
      naive.expect(passes->inner_product(states[0].momentum(), states[1].momentum()), momenta[0],
                   momenta[1], "of two states");

      // Two segments of two states: their own sums are not used.
      const auto segment_of = [&](std::size_t first, std::size_t last, const double* sum) {
        return SegmentMomenta{states[first].momentum(), states[last].momentum(), sum};
      };
      const auto part = [&](std::size_t first, std::size_t last) {
        return std::vector<Vector>(momenta.begin() + static_cast<std::ptrdiff_t>(first),
                                   momenta.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      };
      Point left(*c.metric);
      Point right(*c.metric);
      naive.expect(
          passes->join_pairs(segment_of(0, 1, nullptr), segment_of(2, 3, nullptr), left.momentum()),
          part(0, 1), part(2, 3));
      passes->join_pairs(segment_of(4, 5, nullptr), segment_of(6, 7, nullptr), right.momentum());
      const Vector left_sum = (momenta[0] + momenta[1]) + (momenta[2] + momenta[3]);
      const Vector right_sum = (momenta[4] + momenta[5]) + (momenta[6] + momenta[7]);
      EXPECT_EQ(left.p(), left_sum);
      EXPECT_EQ(right.p(), right_sum);

      // Two segments of four, elsewhere and in place as the kernel does it.
      Point whole(*c.metric);
      naive.expect(passes->join(segment_of(0, 3, left.momentum()),
                                segment_of(4, 7, right.momentum()), whole.momentum()),
                   part(0, 3), part(4, 7));
      naive.expect(passes->join(segment_of(0, 3, left.momentum()),
                                segment_of(4, 7, right.momentum()), left.momentum()),
                   part(0, 3), part(4, 7));
      EXPECT_EQ(whole.p(), left_sum + right_sum);
      EXPECT_EQ(left.p(), left_sum + right_sum);
      EXPECT_TRUE(whole.padding_is_zero());
    }
  }
}

// M is the inverse of M^{-1}, for every kind.
TEST(Metric, MapsByTheMassWhatTheInverseMassUndoes) {
  const std::vector<double> diagonal{4, 0.25, 1};
  const std::vector<double> dense{2, 0.5, 0, 0.5, 1, 0.3, 0, 0.3, 3};
  const std::vector<double> x{1, -2, 0.5};
  for (const auto& metric :
       {make_unit_metric(3), make_diagonal_metric(diagonal), make_dense_metric(3, dense),
        make_low_rank_metric({{1, 2, 3}, {0, 1, 0}, {7}})}) {
    std::vector<double> mapped(3);
    std::vector<double> back(3);
    metric->inverse_mass_times(x, mapped);
    metric->mass_times(mapped, back);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(back[i], x[i], 1e-14) << describe(metric->kind());
    }
  }
}

}  // namespace
}  // namespace rehmc::momentum_test
