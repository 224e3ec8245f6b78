// Private to sharpen/: chooses the features for each summary of a scalar.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "scalar_fit.hpp"

namespace rehmc::stein {

/// What a set of features leaves of a target, including the effect of every draw on the
/// coefficients.
struct Candidate {
  FeatureSet set;
  Eigen::VectorXd influence;
};

/// For a moment: from the smallest set on, a larger one must leave less long-run variance by a
/// tenth, less the standard error of that variance. Errors that few events carry are hardly known,
/// and look small in the runs that have not seen those events: to take the least would mean large
/// sets in such runs, and none where the tail was seen, just where they gain most.
FeatureSet best_of_moment(const std::vector<Candidate>& candidates, MeanErrors& errors);
/// For an indicator: by a tenth, and in every fold. If two sets do equally well and few draws
/// decide, the choice is correlated with the error and biases the estimate.
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
        result_(unsharpened(target.known())),
        threshold_sets_(target.thresholds().size()) {}

  SharpenedEstimate estimate();

 private:
  class Distribution;

  FeatureSet best_set(Index target);
  const Eigen::MatrixXd& left(FeatureSet set) const {
    return remainders_.left[Remainders::index(set)];
  }
  void sharpen_moments();
  /// The set for the indicator of a threshold.
  FeatureSet set_of_threshold(std::size_t t);
  /// The share of the squared error of a tail's mass that features leave, on the worse side.
  double tail_mass_left();
  /// Whether the run has seen the tail although what is expected beyond its extremes carries most
  /// of an error; or the error is but rounding.
  bool tail_seen(Index target, const Eigen::VectorXd& influence, const UnseenExcursion& unseen,
                 double reported) const;
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
  std::vector<std::optional<FeatureSet>> threshold_sets_;  ///< once they are chosen
};

}  // namespace rehmc::stein
