// What a dynamics computes when two segments of a trajectory are joined.
#pragma once

namespace rehmc {

/// A segment is a number of consecutive states. Let p be the momentum of a state, v its velocity,
/// and S the sum of the momenta over a segment. These are the inner products of a velocity at one
/// end of either segment with momenta of the other: all that the turning criterion needs about a
/// joint beyond what it knows of each segment.
struct JoinProducts {
  double left_first_right_sum;  ///< v(first of left) . S(right)
  double left_last_right_sum;   ///< v(last of left) . S(right)
  double right_first_left_sum;  ///< v(first of right) . S(left)
  double right_last_left_sum;   ///< v(last of right) . S(left)
  double firsts;                ///< v(first of left) . p(first of right)
  double lasts;                 ///< v(last of right) . p(last of left)
};

}  // namespace rehmc
