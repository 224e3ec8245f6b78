// Leapfrog dynamics: Hamiltonian steps in pooled memory, with a constant metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/dynamics/leapfrog_passes.hpp"

namespace rehmc {

/// Hamilton's equations for the energy H = -l(x) + p' M^{-1} p / 2, eq. (1.1) of Nishimura & Dunson
/// (2020), integrated by the leapfrog steps of their eq. (1.2). Steps preserve volume.
class Leapfrog {
 public:
  using StateHandle = StatePool::Handle;
  using MomentumHandle = BlockPool::Handle;

  struct Point {
    StateHandle state;
    MomentumHandle momentum;
    double kinetic_energy = 0;
  };

  /// A step also computes where the next step leads.
  struct Front {
    Point point;
    std::optional<StateHandle> next{};  ///< its position alone is known; owned by the front
  };

  /// One state shares one buffer for both ends, and up to two states the sum is not written at all.
  struct Segment {
    MomentumHandle first;
    MomentumHandle last;
    MomentumHandle sum;
    std::uint32_t size;
  };

  explicit Leapfrog(Density density);

  StatePool& states() { return states_; }
  const StatePool& states() const { return states_; }
  Guard& guard() { return guard_; }
  const Guard& guard() const { return guard_; }
  double step_size() const { return tuning_.step_size; }

  void use(const Tuning& tuning);
  Point begin(StateHandle state, Stream& stream);
  Point begin(StateHandle state, Stream& stream, const KeptMomentum& kept);
  Front step(Front& from, Direction direction);
  Front grow_from(Front& end) {
    states_.retain(end.point.state);
    return {end.point, std::exchange(end.next, std::nullopt)};
  }
  static constexpr double log_jacobian(const Front&) { return 0; }

  void velocity(const Point& point, std::span<double> result) const {
    passes_->velocity(momenta_->data(point.momentum), result);
  }
  double velocity_product(const Point& point) const { return 2 * point.kinetic_energy; }
  const double* momentum(const Point& point) const { return momenta_->data(point.momentum); }

  Segment segment_of(const Point& point) const {
    return {point.momentum, point.momentum, point.momentum, 1};
  }
  /// Uses that v(p) . q = v(q) . p, since M is symmetric, to save products for short segments.
  JoinProducts join(Segment& left, Segment& right) {
    const auto data = [&](MomentumHandle handle) { return momenta_->data(handle); };
    JoinProducts products;
    if (left.size == 1) {
      const double product = passes_->inner_product(data(left.first), data(right.first));
      products = {product, product, product, product, product, product};
    } else {
      const SegmentMomenta of_left{data(left.first), data(left.last), data(left.sum)};
      const SegmentMomenta of_right{data(right.first), data(right.last), data(right.sum)};
      if (left.size == 2) {
        left.sum = momenta_->take();
        products = passes_->join_pairs(of_left, of_right, data(left.sum));
      } else {
        products = passes_->join(of_left, of_right, data(left.sum));
        momenta_->release(right.sum);
      }
      momenta_->release(left.last);
      momenta_->release(right.first);
    }
    left.last = right.last;
    left.size += right.size;
    return products;
  }
  static void reverse(Segment& segment) { std::swap(segment.first, segment.last); }
  void release(Segment& segment) {
    momenta_->release(segment.first);
    if (segment.size > 1) momenta_->release(segment.last);
    if (segment.size > 2) momenta_->release(segment.sum);
  }

  /// Releases the state of a front and its `next`; its momentum belongs to a segment.
  void release(Front& front) {
    states_.release(front.point.state);
    if (front.next) states_.release(*front.next);
    front.next.reset();
  }
  void release_momentum(const Point& point) { momenta_->release(point.momentum); }

  void keep_divergence(const Point& from, Front& to, Direction direction);
  Divergence divergence() const;
  StateHandle divergent_state() const { return divergent_->end.state; }
  Direction divergent_direction() const { return divergent_->direction; }
  void drop_divergence();

 private:
  struct DivergentStep {
    StateHandle start;
    Point end;
    Direction direction;
    Fault fault;
  };

  std::size_t dimension() const { return states_.dimension(); }
  MomentumHandle draw_momentum(Stream& stream);
  Point begin_with(StateHandle state, MomentumHandle momentum);

  StatePool states_;
  Guard guard_;
  Tuning tuning_;
  std::unique_ptr<const LeapfrogPasses> passes_;
  std::size_t momentum_vectors_ = 0;
  std::optional<BlockPool> momenta_;  ///< replaced when a metric needs blocks of another size
  std::optional<DivergentStep> divergent_;
};

static_assert(Dynamics<Leapfrog>);

}  // namespace rehmc
