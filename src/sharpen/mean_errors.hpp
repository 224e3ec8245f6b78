// Private to sharpen/: the standard error of the mean of a series of per-draw numbers.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/rare_events.hpp"

namespace rehmc::stein {

/// Errors of means of series of per-draw numbers, all of one shape.
class MeanErrors {
 public:
  MeanErrors(std::size_t chains, std::size_t draws_per_chain) {
    series_.chains = chains;
    series_.iterations = draws_per_chain;
  }
  /// Squared standard error of the mean over all draws; 0 for a constant series.
  double squared_error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// The same, raised for rare events that the run may not have seen, with its degrees of freedom.
  MeanError error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// The same for what features leave of a target, given an excursion of it beyond the largest
  /// seen.
  MeanError error(const Eigen::Ref<const Eigen::VectorXd>& left,
                  const Eigen::Ref<const Eigen::VectorXd>& target, const UnseenExcursion& unseen);
  /// The distance of the mean from 0 in standard errors, as the absolute value of a normal score:
  /// corrected for a skewed law of the mean, and for the few degrees of freedom of an error that
  /// few draws carry.
  double score(const Eigen::Ref<const Eigen::VectorXd>& series);

 private:
  /// Of the mean of the latest series, from sums over chunks of its chains.
  double skewness_of_mean() const;
  /// With the mean square of an excursion that is expected, as a function of the series about its
  /// mean in units of its sd, and of the square of that unit.
  template <class Expected>
  MeanError error_with(const Eigen::Ref<const Eigen::VectorXd>& series, const Expected& expected);

  ChainTable series_;  ///< about its mean, in units of its sd
  EffectiveSize effective_size_;
  double effective_ = 0;
};

}  // namespace rehmc::stein
