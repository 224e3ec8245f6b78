// Dynamics: what draws a momentum and moves a state by one reversible step.
#pragma once

#include <concepts>
#include <span>

#include "rehmc/core/direction.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/pool.hpp"
#include "rehmc/dynamics/segment.hpp"
#include "rehmc/dynamics/tuning.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {

/// A step that diverged: where it began, with what momentum, where it led, and why. A step of the
/// transition's step size from the start, with this momentum, leads to the end.
struct Divergence {
  std::span<const double> start;
  std::span<const double> momentum;
  std::span<const double> end;
  Fault fault = Fault::none;  ///< none: the energy error was too large
};

/// The momentum with which the last draw ended, of which the next one keeps a share.
struct KeptMomentum {
  std::span<const double> momentum;
  double share;
};

/// A dynamics owns the guarded density, the pool of states and the momenta. Its types are
///
/// - `Point`: a state and the momentum it was reached with; its field `state` is the state;
/// - `Front`: an end of a trajectory that may grow; its field `point` is the point there;
/// - `Segment`: the momenta that a turning criterion needs of consecutive states: those of the two
///   ends and the sum over all.
///
/// It demands
///
/// - `use(tuning)`: prepares for a transition; ConfigError if the tuning does not fit;
/// - `begin(state, stream)`: draws a fresh momentum at the state; `begin(state, stream, kept)`: the
///   share s of the kept momentum plus sqrt(1 - s^2) times a fresh one (Horowitz 1991);
/// - `momentum(point)`: the d numbers of a momentum;
/// - `step(front, direction)`: one step forward or backward in time, always in the same direction
///   from the same front. Steps must be reversible: a step back undoes a step forward. The new
///   front owns one reference to its state; the old one keeps its own;
/// - `grow_from(front)`: another front at the same place, with a reference of its own, which takes
///   over what is known of the next step;
/// - `log_jacobian(front)`: log |dz/dz_0| of the map from the start z_0 of the trajectory to the
///   front; a constant 0 if steps preserve volume, so that it costs nothing;
/// - `begin` and `step` write the energy H of the state they reach to the pool: +inf if the model
///   failed there;
/// - `velocity(point, result)`: dx/dt at a point; `velocity_product(point)`: its inner product
///   v . p with the momentum;
/// - `segment_of(point)`: the segment of a single state; it takes over the point's momentum.
///   `join(left, right)`: appends `right` to `left`, which are equally long and adjacent, releases
///   what is no longer needed, and returns the products across the joint. `reverse` exchanges the
///   two ends, `release` releases all momenta;
/// - `release(front)` releases the state of a front, `release_momentum(point)` a momentum;
/// - `keep_divergence(from, to, direction)`: keeps a step that diverged and takes over where it
///   led; `divergence()` shows it, `divergent_state()` is where it led and `divergent_direction()`
///   in which direction, `drop_divergence()` lets go of it, if there is one.
template <class D>
concept Dynamics = requires(D& dynamics, const D& fixed, StatePool::Handle state,
                            const typename D::Point& point, typename D::Front& front,
                            typename D::Segment& segment, const Tuning& tuning, Stream& stream,
                            Direction direction, std::span<double> result,
                            const KeptMomentum& kept) {
  { dynamics.states() } -> std::same_as<StatePool&>;
  { dynamics.guard() } -> std::same_as<Guard&>;
  dynamics.use(tuning);
  { fixed.step_size() } -> std::convertible_to<double>;

  { dynamics.begin(state, stream) } -> std::same_as<typename D::Point>;
  { dynamics.begin(state, stream, kept) } -> std::same_as<typename D::Point>;
  { fixed.momentum(point) } -> std::convertible_to<const double*>;
  { dynamics.step(front, direction) } -> std::same_as<typename D::Front>;
  { dynamics.grow_from(front) } -> std::same_as<typename D::Front>;
  { fixed.log_jacobian(front) } -> std::convertible_to<double>;
  { point.state } -> std::convertible_to<StatePool::Handle>;
  { front.point } -> std::convertible_to<typename D::Point>;

  fixed.velocity(point, result);
  { fixed.velocity_product(point) } -> std::convertible_to<double>;
  { dynamics.segment_of(point) } -> std::same_as<typename D::Segment>;
  { dynamics.join(segment, segment) } -> std::same_as<JoinProducts>;
  dynamics.reverse(segment);
  dynamics.release(segment);

  dynamics.release(front);
  dynamics.release_momentum(point);
  dynamics.keep_divergence(point, front, direction);
  { fixed.divergence() } -> std::same_as<Divergence>;
  { fixed.divergent_state() } -> std::convertible_to<StatePool::Handle>;
  { fixed.divergent_direction() } -> std::same_as<Direction>;
  dynamics.drop_divergence();
};

}  // namespace rehmc
