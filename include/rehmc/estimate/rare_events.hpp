// The error of a mean whose variance few events carry, some of which a run may not have seen.
#pragma once

#include "rehmc/estimate/chain_table.hpp"

namespace rehmc {

/// The squared error of a mean, and how well it is known: the degrees of freedom of Student's t
/// that error / MCSE follows. Infinite if there is no doubt about the error.
struct MeanError {
  double squared = 0;
  double degrees = 0;
  /// The mean square of an excursion that is only expected, over the sum of those seen.
  double unseen = 0;
};

/// The mean square of an excursion beyond the largest seen, over the square of that one, if nothing
/// is known but that it may have a tail of shape 2/9: 1 / (1 - 2 k), as below.
inline constexpr double usual_growth = 9.0 / 5;

/// Excursions are sums of a series about its mean over stretches that are long enough to be
/// independent; the variance of the mean is the sum of their squares b_j^2, up to a constant.
/// Beyond the largest one seen, one more is expected in a run of this length (Good 1953, "The
/// population frequencies of species": what was seen once stands for what was not seen). If
/// excursions have a tail of shape k, the mean square of that one is b_max^2 / (1 - 2 k), and the
/// mean fourth power b_max^4 / (1 - 4 k). So the squared error is raised by the first, and its
/// relative variance, which the degrees of freedom stand for (Satterthwaite 1946), is
///   (sum b_j^4 + b_max^4 / (1 - 4 k)) / (sum b_j^2 + b_max^2 / (1 - 2 k))^2.
/// Light excursions are so many that neither changes anything. Excursions to one side also make the
/// mean and its error too small together where they are missing: to first order error / MCSE then
/// has the mean square 1 + 2 s^2, with s the skewness of the mean (from Edgeworth's expansion of
/// Student's ratio), and the squared error is multiplied by this.
///
/// `series`: about its mean; `squared_error`: the usual one, from its effective size; `expected`:
/// the mean square of one excursion beyond those seen, which counts if it is more than what the
/// largest says.
MeanError with_unseen_events(const ChainTable& series, double squared_error, double expected = 0);

/// An excursion of a target beyond the largest seen.
struct UnseenExcursion {
  double growth = 0;  ///< its mean square, over the square of the largest seen
  /// The least share of that mean square that control variates leave, unless nothing but rounding
  /// is left of the largest excursions seen.
  double least_left = 0;
};

/// What is left of a target when control variates have explained it, about its mean, and the target
/// itself likewise. Of an excursion of the target beyond the largest seen, control variates explain
/// no more than they do of the worst explained of the five largest. Returns the mean square of what
/// they leave: `expected` above.
double unseen_remainder(const ChainTable& target, double squared_error_of_target,
                        const ChainTable& left, const UnseenExcursion& unseen);

/// How many times wider a 95% interval is by Student's t than by the normal distribution. Unknown
/// degrees of freedom count as infinite.
double student_widening(double degrees);

}  // namespace rehmc
