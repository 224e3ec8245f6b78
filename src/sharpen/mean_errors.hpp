// Private to sharpen/: the standard error of the mean of a series of per-draw numbers.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "rehmc/estimate/chain_table.hpp"

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
  /// The same, raised if the law of the mean is skewed, as it is for a remainder that few draws on
  /// one side carry: without such draws, both the mean and its error come out too small. To first
  /// order, error / MCSE has the mean square 1 + 2 s^2, with s the skewness of the mean.
  double raised_error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// The raised error of an estimate that is reported: raised again for the part of a heavy,
  /// one-sided tail that few draws have not seen.
  double reported_error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// The distance of the mean from 0 in standard errors, as the absolute value of a normal score:
  /// corrected for a skewed law of the mean, and for the few degrees of freedom of an error that
  /// few draws carry.
  double score(const Eigen::Ref<const Eigen::VectorXd>& series);

 private:
  /// Of the mean of the latest series, from sums over chunks of its chains.
  double skewness_of_mean() const;

  ChainTable series_;  ///< about its mean, in units of its sd
  EffectiveSize effective_size_;
  double effective_ = 0;
};

}  // namespace rehmc::stein
