// The walk of a path that grows in both directions along the steps of a dynamics.
#pragma once

#include <array>
#include <cstdint>

#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/trajectory/two_way.hpp"
#include "rehmc/trajectory/weight.hpp"

namespace rehmc {

/// The walk of trajectory/two_way.hpp: states weigh exp(H_0 - H) |dz/dz_0|. Each end keeps its own
/// momentum; if steps diverge in both directions, the last divergence is kept.
template <Dynamics D>
class TwoWayPathWalk {
 public:
  using State = StatePool::Handle;
  using Front = typename D::Front;

  TwoWayPathWalk(D& dynamics, const typename D::Point& start, double max_energy_error)
      : dynamics_(dynamics),
        weights_{max_energy_error},
        start_energy_(dynamics.states().energy(start.state)),
        start_(start),
        ends_{Front{start}, Front{start}} {
    dynamics_.states().retain(start.state);
    dynamics_.states().retain(start.state);
  }

  void begin_half(Direction direction) { direction_ = direction; }

  Leaf<State> step() {
    Front& from = end_front(direction_);
    Front to = dynamics_.step(from, direction_);
    ++leapfrogs_;
    const double energy_error =
        dynamics_.states().energy(to.point.state) - start_energy_ - dynamics_.log_jacobian(to);
    if (weights_.diverges(energy_error)) {
      dynamics_.drop_divergence();
      dynamics_.keep_divergence(from.point, to, direction_);
      return {to.point.state, {}, true};
    }
    const bool from_start = at_start_[direction_ == Direction::forward];
    at_start_[direction_ == Direction::forward] = false;
    if (!from_start) dynamics_.release_momentum(from.point);
    dynamics_.release(from);
    from = to;
    return {to.point.state, weights_.weight(energy_error), false};
  }

  void keep_half() {}

  /// The last state in a direction that did not diverge.
  State end(Direction direction) { return end_front(direction).point.state; }

  /// Releases both ends, and the momentum of the start, which they share until they move.
  void finish() {
    for (const Direction direction : {Direction::backward, Direction::forward}) {
      Front& front = end_front(direction);
      if (!at_start_[direction == Direction::forward]) dynamics_.release_momentum(front.point);
      dynamics_.release(front);
    }
    dynamics_.release_momentum(start_);
  }

  std::uint32_t leapfrogs() const { return leapfrogs_; }

 private:
  Front& end_front(Direction direction) { return ends_[direction == Direction::forward]; }

  D& dynamics_;
  MultinomialWeights weights_;
  double start_energy_;
  typename D::Point start_;
  std::array<Front, 2> ends_;  ///< backward, forward
  std::array<bool, 2> at_start_{true, true};
  Direction direction_ = Direction::forward;
  std::uint32_t leapfrogs_ = 0;
};

}  // namespace rehmc
