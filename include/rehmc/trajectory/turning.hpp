// Turning criteria: when the two ends of a segment of a trajectory begin to approach each other.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include "rehmc/core/direction.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"

namespace rehmc {

/// What a criterion may know of the dynamics: momenta, their sums over segments, and velocities,
/// through products of a velocity with a momentum or a sum. Nothing says that these products are
/// symmetric. (The products across a joint are described in dynamics/segment.hpp.)
template <class D>
concept JoinsSegments = requires(D& dynamics, const typename D::Point& point,
                                 typename D::Segment& segment) {
  { dynamics.velocity_product(point) } -> std::convertible_to<double>;
  { dynamics.segment_of(point) } -> std::same_as<typename D::Segment>;
  { dynamics.join(segment, segment).left_first_right_sum } -> std::convertible_to<double>;
  { dynamics.join(segment, segment).left_last_right_sum } -> std::convertible_to<double>;
  { dynamics.join(segment, segment).right_first_left_sum } -> std::convertible_to<double>;
  { dynamics.join(segment, segment).right_last_left_sum } -> std::convertible_to<double>;
  { dynamics.join(segment, segment).firsts } -> std::convertible_to<double>;
  { dynamics.join(segment, segment).lasts } -> std::convertible_to<double>;
  dynamics.reverse(segment);
  dynamics.release(segment);
};

/// Turning by momentum sums (Betancourt 2017, appendix A.4.2), with the two checks across the joint
/// that Stan added: with S the sum of the momenta over a segment, the velocities v at its two ends
/// must point along S, v . S > 0; the same for the left segment with the first state of the right
/// one, and for the right segment with the last state of the left one.
template <JoinsSegments D>
struct SumTurning {
  /// What is known of the velocity v at one end.
  struct End {
    double own;     ///< v . p, with the momentum p there
    double of_sum;  ///< v . S
  };
  struct Segment {
    End first;
    End last;
    typename D::Segment momenta;
  };

  static Segment leaf(D& dynamics, const typename D::Point& point) {
    const double own = dynamics.velocity_product(point);
    return {{own, own}, {own, own}, dynamics.segment_of(point)};
  }

  static bool join(D& dynamics, Segment& left, Segment& right, Direction) {
    const auto across = dynamics.join(left.momenta, right.momenta);
    const double first_whole = left.first.of_sum + across.left_first_right_sum;
    const double last_whole = right.last.of_sum + across.right_last_left_sum;
    const double first_left = left.first.of_sum + across.firsts;
    const double joint_left = right.first.own + across.right_first_left_sum;
    const double joint_right = left.last.own + across.left_last_right_sum;
    const double last_right = right.last.of_sum + across.lasts;
    left.first.of_sum = first_whole;
    left.last = {right.last.own, last_whole};
    return !(first_whole > 0 && last_whole > 0 && first_left > 0 && joint_left > 0 &&
             joint_right > 0 && last_right > 0);
  }

  static void reverse(D& dynamics, Segment& segment) {
    std::swap(segment.first, segment.last);
    dynamics.reverse(segment.momenta);
  }
  static void release(D& dynamics, Segment& segment) { dynamics.release(segment.momenta); }
};

/// What a criterion may know of single points: their positions and momenta. Whoever holds a point
/// holds a reference to its state and owns its momentum.
template <class D>
concept ShowsPoints = requires(D& dynamics, const typename D::Point& point) {
  { dynamics.states().position(point.state) } -> std::convertible_to<const double*>;
  { dynamics.momentum(point) } -> std::convertible_to<const double*>;
  dynamics.states().retain(point.state);
  dynamics.states().release(point.state);
  dynamics.release_momentum(point);
};

/// Turning by the distance of the ends (Hoffman & Gelman 2014, eq. 9): (x+ - x-) . p at both ends.
template <ShowsPoints D>
struct DistanceTurning {
  using Point = typename D::Point;
  struct Segment {
    Point first;
    Point last;
    bool single;
  };

  static Segment leaf(D& dynamics, const Point& point) {
    dynamics.states().retain(point.state);
    return {point, point, true};
  }

  static bool join(D& dynamics, Segment& left, Segment& right, Direction direction) {
    if (!left.single) release_point(dynamics, left.last);
    if (!right.single) release_point(dynamics, right.first);
    left.last = right.last;
    left.single = false;
    const double* x_first = dynamics.states().position(left.first.state);
    const double* x_last = dynamics.states().position(left.last.state);
    const double* p_first = dynamics.momentum(left.first);
    const double* p_last = dynamics.momentum(left.last);
    const std::size_t dimension = dynamics.states().dimension();
    const auto [at_first, at_last] = hot_loop([=] {
      return lane_sums<2>(dimension, [=](std::size_t i) {
        const double reach = x_last[i] - x_first[i];
        return std::array<double, 2>{reach * p_first[i], reach * p_last[i]};
      });
    });
    // In a half that grows backward the last state is the earliest in time.
    const auto sign = static_cast<double>(direction);
    return !(sign * at_first >= 0 && sign * at_last >= 0);
  }

  static void reverse(D&, Segment& segment) { std::swap(segment.first, segment.last); }
  static void release(D& dynamics, Segment& segment) {
    release_point(dynamics, segment.first);
    if (!segment.single) release_point(dynamics, segment.last);
  }

 private:
  static void release_point(D& dynamics, const Point& point) {
    dynamics.states().release(point.state);
    dynamics.release_momentum(point);
  }
};

}  // namespace rehmc
