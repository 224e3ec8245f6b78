// Private to sharpen/: chooses the features for each summary of a scalar.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "scalar_fit.hpp"

namespace rehmc::stein {

/// What a set of features leaves of a target, including the effect of every draw on the
/// coefficients.
struct Candidate {
  FeatureSet set;
  Eigen::VectorXd influence;
};

/// The set that leaves the least long-run variance of a moment. A set whose error is hardly known
/// must be far better than a rival whose error is known.
FeatureSet best_of_moment(const std::vector<Candidate>& candidates, MeanErrors& errors);
/// The same for an indicator. A larger set must leave less in every fold: if two do equally well
/// and few draws decide, the choice is correlated with the error and biases the estimate.
FeatureSet best_of_indicator(const std::vector<Candidate>& candidates, MeanErrors& errors,
                             const std::vector<Fold>& folds);

/// Chooses the best set for every summary of a scalar, once all folds are fitted.
class ScalarChoice {
 public:
  /// `states`: the own coordinate by fold; empty for a function of many.
  ScalarChoice(Run& run, const ScalarTarget& target, const Remainders& remainders,
               const std::vector<CoordinateStates>& states)
      : run_(run),
        target_(target),
        remainders_(remainders),
        states_(states),
        result_(unsharpened(target.known())) {}

  SharpenedEstimate estimate();

 private:
  class Distribution;

  FeatureSet best_set(Index target);
  const Eigen::MatrixXd& left(FeatureSet set) const {
    return remainders_.left[Remainders::index(set)];
  }
  void sharpen_moments();
  /// Whether what a set leaves of a moment has a finite variance, as far as one can tell.
  bool has_error(FeatureSet set, Index target, double error) const;
  /// No error is smaller than what rounding causes.
  double floored(double error) const;
  void count_effective_draws(Estimate& estimate) const;

  void sharpen_quantile(std::size_t t);
  /// Where the sharpened distribution function reaches a probability.
  struct Crossing {
    double x = 0;
    double off = 0;          ///< what is left of the difference
    double density = 0;      ///< there; 0 if no crossing was found
    Eigen::VectorXd series;  ///< per draw; its mean is the distribution function at x
  };
  Crossing find_crossing(const Distribution& distribution, double start, double off, double error,
                         double probability) const;

  Run& run_;
  const ScalarTarget& target_;
  const Remainders& remainders_;
  const std::vector<CoordinateStates>& states_;
  SharpenedEstimate result_;
};

}  // namespace rehmc::stein
