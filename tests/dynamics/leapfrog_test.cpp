// The leapfrog step of every metric: the textbook's, reversible, volume preserving, second order.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "rehmc/dynamics/metric.hpp"
#include "tests/dynamics/phase.hpp"

namespace rehmc::leapfrog_test {
namespace {

using testing::bumpy;
using testing::edge_dimensions;
using testing::every_metric;
using testing::index;
using testing::leapfrog;
using testing::Matrix;
using testing::MetricCase;
using testing::Point;
using testing::Target;
using testing::Vector;

constexpr double unit_round_off = std::numeric_limits<double>::epsilon();

/// What n operations on numbers of these sizes may lose, with a factor 4 for several roundings
/// each.
Vector round_off(double operations, const Vector& sizes) {
  return 4 * operations * unit_round_off * sizes;
}

void expect_within(const Vector& found, const Vector& expected, const Vector& tolerance,
                   const std::string& what) {
  for (Eigen::Index i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance[i]) << what << ", coordinate " << i;
  }
}

TEST(Leapfrog, EqualsTheTextbook) {
  constexpr double step = 0.13;
  for (const std::size_t d : edge_dimensions) {
    for (const MetricCase& c : every_metric(d)) {
      Point from = testing::start(*c.metric, bumpy, d);
      for (int n = 0; n < 12; ++n) {
        SCOPED_TRACE(c.name + ", dimension " + std::to_string(d) + ", step " + std::to_string(n));
        const double signed_step = n % 4 == 3 ? -step : step;
        // Eq. (1.2) of Nishimura & Dunson (2020), word by word.
        const Vector p_half = from.p() + 0.5 * signed_step * from.g();
        const Vector x = from.x() + signed_step * (c.inverse_mass * p_half);
        Point to = leapfrog(*c.metric, bumpy, signed_step, from);
        Vector g(index(d));
        const double log_density = bumpy(to.x(), g);
        const Vector p = p_half + 0.5 * signed_step * g;

        // The velocity that is carried along has a rounding error from every step so far.
        const double operations = static_cast<double>(d + 4) * (n + 1);
        const Vector p_size = from.p().cwiseAbs() + step * (from.g().cwiseAbs() + g.cwiseAbs());
        expect_within(to.x(), x,
                      round_off(operations, from.x().cwiseAbs() + step * (c.magnitude * p_size)),
                      "position");
        expect_within(to.p(), p, round_off(4, p_size), "momentum");
        const double kinetic_size = p_size.dot(c.magnitude * p_size);
        EXPECT_NEAR(to.kinetic, 0.5 * p.dot(c.inverse_mass * p),
                    4 * operations * unit_round_off * kinetic_size);
        EXPECT_EQ(to.log_density, log_density);
        EXPECT_TRUE(to.padding_is_zero());
        // The position of the next step, computed in passing, is where that step begins.
        Point next(*c.metric);
        make_leapfrog_passes(*c.metric)->drift(signed_step, to.view(), next.position());
        expect_within(to.next_x(), next.x(),
                      round_off(operations, next.x().cwiseAbs() + step * (c.magnitude * p_size)),
                      "next position");
        from = std::move(to);
      }
    }
  }
}

// Back by a negative step, and back by a negative momentum.
TEST(Leapfrog, IsReversible) {
  constexpr int steps = 40;
  constexpr double step = 0.1;
  for (const std::size_t d : edge_dimensions) {
    for (const MetricCase& c : every_metric(d)) {
      SCOPED_TRACE(c.name + ", dimension " + std::to_string(d));
      const Point start = testing::start(*c.metric, bumpy, d);
      const auto walk = [&](Point point, double signed_step) {
        for (int n = 0; n < steps; ++n) point = leapfrog(*c.metric, bumpy, signed_step, point);
        return point;
      };
      Point end = walk(testing::start(*c.metric, bumpy, d), step);
      ASSERT_GT((end.x() - start.x()).norm(), 0.1);

      // The way there and back amplifies a rounding error: measured here, on the same trajectory,
      // with a perturbation that is a million times as large.
      const double disturbance = 1e6 * unit_round_off;
      Point disturbed(*c.metric);
      disturbed.set_position(start.x() * (1 + disturbance), bumpy);
      disturbed.set_momentum(c, start.p() * (1 + disturbance));
      const Point other = walk(std::move(disturbed), step);
      const double growth = ((other.x() - end.x()).norm() + (other.p() - end.p()).norm()) /
                            (disturbance * (start.x().norm() + start.p().norm()));
      const double tolerance = 2 * steps * static_cast<double>(d + 4) * unit_round_off *
                               std::max(1.0, growth) * c.magnitude.norm() *
                               (1 + start.x().norm() + start.p().norm());
      ASSERT_LT(tolerance, 1e-8);

      Point turned(*c.metric);
      turned.set_position(end.x(), bumpy);
      turned.set_momentum(c, -end.p());
      const Point back_by_step = walk(std::move(end), -step);
      const Point back_by_momentum = walk(std::move(turned), step);
      EXPECT_LT((back_by_step.x() - start.x()).norm(), tolerance);
      EXPECT_LT((back_by_step.p() - start.p()).norm(), tolerance);
      EXPECT_LT((back_by_momentum.x() - start.x()).norm(), tolerance);
      EXPECT_LT((back_by_momentum.p() + start.p()).norm(), tolerance);
    }
  }
}

/// A map of (x, p) to (x', p').
using PhaseMap = std::function<Vector(const Vector&)>;

PhaseMap steps_of(const MetricCase& c, const Target& target, double step, int steps) {
  return [=](const Vector& z) {
    const Eigen::Index d = z.size() / 2;
    Point point(*c.metric);
    point.set_position(z.head(d), target);
    point.set_momentum(c, z.tail(d));
    for (int n = 0; n < steps; ++n) point = leapfrog(*c.metric, target, step, point);
    Vector result(2 * d);
    result << point.x(), point.p();
    return result;
  };
}

/// By central differences of fourth order: truncation and rounding are both near 1e-11 here.
double jacobian_determinant(const PhaseMap& map, const Vector& z) {
  constexpr double h = 2e-3;
  Matrix jacobian(z.size(), z.size());
  for (Eigen::Index i = 0; i < z.size(); ++i) {
    const auto at = [&](double shift) {
      Vector moved = z;
      moved[i] += shift * h;
      return map(moved);
    };
    jacobian.col(i) = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
  }
  return jacobian.determinant();
}

TEST(Leapfrog, PreservesVolume) {
  for (const std::size_t d : {1U, 7U}) {
    for (const MetricCase& c : every_metric(d)) {
      SCOPED_TRACE(c.name);
      Stream stream({.seed = 3}, Purpose::test);
      const Vector z = testing::normal_vector(stream, 2 * d);
      EXPECT_NEAR(jacobian_determinant(steps_of(c, bumpy, 0.3, 1), z), 1, 1e-8);
      EXPECT_NEAR(jacobian_determinant(steps_of(c, bumpy, 0.3, 3), z), 1, 1e-8);
    }
  }
}

TEST(Leapfrog, ExplicitEulerFailsTheSameVolumeTest) {
  const PhaseMap euler = [](const Vector& z) {
    const Eigen::Index d = z.size() / 2;
    Vector g(d);
    bumpy(z.head(d), g);
    Vector result(2 * d);
    result << z.head(d) + 0.3 * z.tail(d), z.tail(d) + 0.3 * g;
    return result;
  };
  Stream stream({.seed = 3}, Purpose::test);
  const Vector z = testing::normal_vector(stream, 14);
  EXPECT_GT(std::abs(jacobian_determinant(euler, z) - 1), 0.01);
}

// On a normal target the step is linear: its matrix is read directly, without differences.
TEST(Leapfrog, PreservesVolumeExactlyWhereItIsLinear) {
  constexpr std::size_t d = 7;
  Stream stream({.seed = 4}, Purpose::test);
  Matrix root(index(d), index(d));
  for (auto column : root.colwise()) column = testing::normal_vector(stream, d);
  const Matrix precision = root * root.transpose() / static_cast<double>(d);
  const Target normal = [&](const Vector& x, Vector& gradient) {
    gradient = -precision * x;
    return 0.5 * x.dot(gradient);
  };
  for (const MetricCase& c : every_metric(d)) {
    SCOPED_TRACE(c.name);
    const PhaseMap map = steps_of(c, normal, 0.2, 1);
    Matrix linear(index(2 * d), index(2 * d));
    for (Eigen::Index i = 0; i < linear.cols(); ++i) {
      linear.col(i) = map(Vector::Unit(linear.rows(), i));
    }
    EXPECT_NEAR(linear.determinant(), 1, 1e-12);
  }
}

// The energy error after a fixed time is c2 step^2 + c4 step^4 + ..., so that halving the step
// gives slopes 2 + r, 2 + r/4, ...: the tolerance of each slope comes from the one before.
TEST(Leapfrog, EnergyErrorIsOfSecondOrder) {
  for (const std::size_t d : {1U, 9U}) {
    for (const MetricCase& c : every_metric(d)) {
      SCOPED_TRACE(c.name + ", dimension " + std::to_string(d));
      const Point start = testing::start(*c.metric, bumpy, d);
      const double scale = std::sqrt(c.inverse_mass.norm());
      std::vector<double> errors;
      for (int steps = 16; steps <= 128; steps *= 2) {
        Point point = testing::start(*c.metric, bumpy, d);
        for (int n = 0; n < steps; ++n) {
          point = leapfrog(*c.metric, bumpy, 0.7 / scale / steps, point);
        }
        errors.push_back(std::abs(point.energy() - start.energy()));
      }
      std::vector<double> slopes;
      for (std::size_t i = 1; i < errors.size(); ++i) {
        slopes.push_back(std::log2(errors[i - 1] / errors[i]));
      }
      const double noise = 200 * unit_round_off * std::abs(start.energy()) / errors.back();
      ASSERT_LT(std::abs(slopes[0] - 2), 0.2);
      EXPECT_NEAR(slopes[1], 2, 0.5 * std::abs(slopes[0] - 2) + noise);
      EXPECT_NEAR(slopes[2], 2, 0.5 * std::abs(slopes[1] - 2) + noise);
    }
  }
}

TEST(Leapfrog, CarriedVelocityStaysTheProduct) {
  constexpr int steps = 1000;
  for (const std::size_t d : edge_dimensions) {
    for (const MetricCase& c : every_metric(d)) {
      SCOPED_TRACE(c.name + ", dimension " + std::to_string(d));
      Point point = testing::start(*c.metric, bumpy, d);
      if (!point.stores_velocity()) continue;
      Vector p_size = point.p().cwiseAbs();
      for (int n = 0; n < steps; ++n) {
        point = leapfrog(*c.metric, bumpy, 0.05, point);
        p_size = p_size.cwiseMax(point.p().cwiseAbs() + point.g().cwiseAbs());
      }
      // Each step rounds the velocity, p and the new product once more.
      const Vector tolerance = round_off(static_cast<double>(d + steps), c.magnitude * p_size);
      ASSERT_LT(tolerance.maxCoeff(), 1e-7);
      expect_within(point.stored_velocity(), c.inverse_mass * point.p(), tolerance, "velocity");
      expect_within(point.stored_product(), c.inverse_mass * point.g(), tolerance, "product");
    }
  }
}

}  // namespace
}  // namespace rehmc::leapfrog_test
