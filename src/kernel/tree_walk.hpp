// The walk of a doubling tree along the steps of a dynamics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/trajectory/tree.hpp"
#include "rehmc/trajectory/turning.hpp"
#include "rehmc/trajectory/weight.hpp"

namespace rehmc {

/// The walk of trajectory/tree.hpp. `Turning` is a criterion of trajectory/turning.hpp, `Weights` a
/// rule of trajectory/weight.hpp.
template <Dynamics D, class Turning, class Weights>
class TreeWalk {
 public:
  using State = StatePool::Handle;
  using Segment = typename Turning::Segment;
  using Point = typename D::Point;
  using Front = typename D::Front;

  TreeWalk(D& dynamics, const Point& start, const Weights& weights)
      : dynamics_(dynamics),
        weights_(weights),
        start_energy_(dynamics.states().energy(start.state)),
        ends_{Front{start}, Front{start}} {
    dynamics_.states().retain(start.state);
    dynamics_.states().retain(start.state);
  }

  void begin_half(Direction direction) {
    direction_ = direction;
    front_ = dynamics_.grow_from(ends_[direction == Direction::forward]);
  }

  Leaf<State> step() {
    Front to = dynamics_.step(front_, direction_);
    const double energy_error =
        dynamics_.states().energy(to.point.state) - start_energy_ - dynamics_.log_jacobian(to);
    ++leapfrogs_;
    if (weights_.diverges(energy_error)) {
      acceptance_sum_ += std::isnan(energy_error) ? 0.0 : std::min(1.0, std::exp(-energy_error));
      dynamics_.keep_divergence(front_.point, to, direction_);
      return {to.point.state, {}, true};
    }
    const Weight weight = weights_.weight(energy_error);
    acceptance_sum_ += Weights::acceptance(weight, energy_error);
    dynamics_.states().release(front_.point.state);
    front_ = to;
    return {to.point.state, weight, false};
  }

  Segment segment_of_last_step() { return Turning::leaf(dynamics_, front_.point); }
  bool join(Segment& segment, Segment& next) {
    return Turning::join(dynamics_, segment, next, direction_);
  }
  void reverse(Segment& segment) { Turning::reverse(dynamics_, segment); }
  void release(Segment& segment) { Turning::release(dynamics_, segment); }

  void keep_half() {
    Front& end = ends_[direction_ == Direction::forward];
    dynamics_.release(end);
    end = front_;
  }
  void drop_half() { dynamics_.release(front_); }

  /// Releases the two ends.
  void finish() {
    for (Front& end : ends_) dynamics_.release(end);
  }

  std::uint32_t leapfrogs() const { return leapfrogs_; }
  double acceptance() const { return acceptance_sum_ / std::max(1U, leapfrogs_); }

 private:
  D& dynamics_;
  Weights weights_;
  double start_energy_;
  std::array<Front, 2> ends_;  ///< backward, forward
  Front front_{};
  Direction direction_ = Direction::forward;
  std::uint32_t leapfrogs_ = 0;
  double acceptance_sum_ = 0;
};

}  // namespace rehmc
