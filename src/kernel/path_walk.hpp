// The walk of a path along the steps of a dynamics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/trajectory/path.hpp"

namespace rehmc {

/// The walk of trajectory/path.hpp. A step is accepted with probability a_k = min(1, exp(H_0 - H_k)
/// |dz_k/dz_0|), eq. (2.1) of Nishimura & Dunson (2020); it diverges when its energy error exceeds
/// the limit.
template <Dynamics D>
class PathWalk {
 public:
  using State = StatePool::Handle;
  using Front = typename D::Front;

  PathWalk(D& dynamics, const typename D::Point& start, double max_energy_error)
      : dynamics_(dynamics),
        start_energy_(dynamics.states().energy(start.state)),
        max_energy_error_(max_energy_error),
        front_{start} {
    dynamics_.states().retain(start.state);
  }

  PathStep<State> step() {
    Front to = dynamics_.step(front_, Direction::forward);
    ++leapfrogs_;
    const double energy_error =
        dynamics_.states().energy(to.point.state) - start_energy_ - dynamics_.log_jacobian(to);
    if (!(energy_error <= max_energy_error_)) {
      dynamics_.keep_divergence(front_.point, to, Direction::forward);
      return {to.point.state, 0.0, true};
    }
    release_front();
    front_ = to;
    return {to.point.state, std::min(1.0, std::exp(-energy_error))};
  }

  /// The last state that did not diverge.
  State end() const { return front_.point.state; }
  typename D::Point end_point() const { return front_.point; }
  /// Releases it.
  void finish() { release_front(); }

  std::uint32_t leapfrogs() const { return leapfrogs_; }

 private:
  void release_front() {
    dynamics_.release_momentum(front_.point);
    dynamics_.release(front_);
  }

  D& dynamics_;
  double start_energy_;
  double max_energy_error_;
  Front front_;
  std::uint32_t leapfrogs_ = 0;
};

}  // namespace rehmc
