// Leapfrog steps in padded memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/leapfrog_passes.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "rehmc/dynamics/pool.hpp"
#include "tests/dynamics/bumpy.hpp"
#include "tests/dynamics/metric_cases.hpp"

namespace rehmc::testing {

/// A log density with its gradient.
using Target = std::function<double(const Vector& x, Vector& gradient)>;

inline double bumpy(const Vector& x, Vector& gradient) {
  const auto d = static_cast<std::size_t>(x.size());
  return Bumpy(d)({x.data(), d}, {gradient.data(), d});
}

/// A phase point in padded, aligned memory, as the kernels hold it.
class Point {
 public:
  explicit Point(const Metric& metric)
      : dimension_(metric.dimension()),
        stride_(vector_stride(dimension_)),
        vectors_(3 + make_leapfrog_passes(metric)->momentum_vectors()),
        pool_(std::make_unique<BlockPool>(vectors_ * stride_)),
        block_(pool_->data(pool_->take())) {}

  double* position() { return block_; }
  double* gradient() { return block_ + stride_; }
  double* next_position() { return block_ + 2 * stride_; }
  double* momentum() { return block_ + 3 * stride_; }
  const double* position() const { return block_; }
  const double* gradient() const { return block_ + stride_; }
  const double* momentum() const { return block_ + 3 * stride_; }
  PhaseView view() const { return {position(), gradient(), momentum()}; }

  Vector x() const { return copy(position()); }
  /// The position after the next step of the same size.
  Vector next_x() const { return copy(block_ + 2 * stride_); }
  Vector g() const { return copy(gradient()); }
  Vector p() const { return copy(momentum()); }
  /// M^{-1} p, which dense and low-rank metrics carry along.
  Vector stored_velocity() const { return copy(momentum() + stride_); }
  Vector stored_product() const { return copy(momentum() + 2 * stride_); }

  double log_density = 0;
  double kinetic = 0;
  double energy() const { return kinetic - log_density; }

  /// Evaluates the target at the position.
  void evaluate(const Target& target) {
    Vector at_x(index(dimension_));
    log_density = target(x(), at_x);
    paste(at_x, gradient());
  }

  /// Replaces the momentum, and the products that follow it (leapfrog_passes.hpp).
  void set_momentum(const MetricCase& of, const Vector& p) {
    paste(p, momentum());
    kinetic = 0.5 * p.dot(of.inverse_mass * p);
    if (!stores_velocity()) return;
    paste(of.inverse_mass * p, momentum() + stride_);
    paste(of.inverse_mass * g(), momentum() + 2 * stride_);
  }
  void set_position(const Vector& x, const Target& target) {
    paste(x, position());
    evaluate(target);
  }

  /// Whether the velocity M^{-1} p and M^{-1} g follow the momentum.
  bool stores_velocity() const { return vectors_ > 4; }

  /// Whether everything after the last coordinate is still zero.
  bool padding_is_zero() const {
    for (std::size_t v = 0; v < vectors_; ++v) {
      for (std::size_t i = dimension_; i < padded(dimension_); ++i) {
        if (block_[v * stride_ + i] != 0) return false;
      }
    }
    return true;
  }

 private:
  Vector copy(const double* data) const {
    return Eigen::Map<const Vector>(data, index(dimension_));
  }
  void paste(const Vector& from, double* to) { std::copy_n(from.data(), dimension_, to); }

  std::size_t dimension_;
  std::size_t stride_;
  std::size_t vectors_;
  std::unique_ptr<BlockPool> pool_;
  double* block_;
};

/// One leapfrog step through the fused passes.
inline Point leapfrog(const Metric& metric, const Target& target, double step, const Point& from) {
  const auto passes = make_leapfrog_passes(metric);
  Point to(metric);
  passes->drift(step, from.view(), to.position());
  to.evaluate(target);
  to.kinetic = passes->kick_and_drift(
      step, from.view(), {to.position(), to.gradient(), to.momentum()}, to.next_position());
  return to;
}

/// A point at a normal position with a drawn momentum.
inline Point start(const Metric& metric, const Target& target, std::uint64_t iteration = 0) {
  Stream positions({.seed = 2, .iteration = iteration}, Purpose::test);
  Stream momenta({.seed = 2, .iteration = iteration}, Purpose::momentum);
  Point point(metric);
  positions.fill_normal({point.position(), metric.dimension()});
  point.evaluate(target);
  metric.draw_momentum(momenta, {point.momentum(), metric.dimension()});
  point.kinetic = make_leapfrog_passes(metric)->begin(point.gradient(), point.momentum());
  return point;
}

inline const std::vector<std::size_t> edge_dimensions{1, 7, 8, 9, 250};

}  // namespace rehmc::testing
