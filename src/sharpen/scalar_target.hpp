// Private to sharpen/: one scalar: its values, its thresholds, and what features are to explain.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "columns.hpp"
#include "stein_run.hpp"

namespace rehmc::stein {

/// The values of a scalar at all states. Throws DataError if there are not as many.
Eigen::VectorXd gathered_values(const Run& run, const ScalarStates& scalar);

/// A scalar function of the states.
class ScalarTarget {
 public:
  ScalarTarget(const Run& run, const ScalarStates& scalar);

  const Estimate& known() const { return scalar_.known; }
  /// At all states.
  const Eigen::VectorXd& values() const { return values_; }
  /// y = (x - centre) / scale has mean 0 and sd 1, as far as is known without gradients.
  double centre() const { return scalar_.known.mean; }
  double scale() const { return scalar_.known.sd; }

  /// The coordinate of which the scalar is a monotone function; none for a function of many. Its
  /// quantiles are then those of the coordinate, carried over.
  std::optional<Index> coordinate() const { return coordinate_; }
  /// The sd of what quantiles are taken of: the coordinate, or the values.
  double measured_sd() const { return measured_sd_; }
  /// The probability that belongs to a quantile of the coordinate.
  double measured_probability(double probability) const {
    return falling_ ? 1 - probability : probability;
  }
  /// Where quantiles are looked for.
  const std::vector<double>& thresholds() const { return thresholds_; }
  /// Where the fields of a fold have their thresholds: about the quantiles of the draws outside it.
  /// If thresholds depended on a draw, its features would not have mean 0: by no more than
  /// Bahadur's remainder, which is a lot here.
  const std::vector<double>& thresholds(std::size_t fold) const { return fold_thresholds_[fold]; }

  /// Per draw the means of the targets over its states: y, y^2, and the indicators of thresholds.
  const Eigen::MatrixXd& targets() const { return targets_; }
  TargetColumns columns() const { return {to_index(thresholds_.size())}; }
  /// Per draw the means of y and y^2 over all states less those over the kept ones, which have mean
  /// 0 as well; no columns if all states are kept.
  const Eigen::MatrixXd& differences() const { return differences_; }
  /// Per draw the targets of the plain draw less their means over all states: mean 0 once more, as
  /// the states have the law of the draw. NaN where they are not known; no columns if none is.
  const Eigen::MatrixXd& plain_differences() const { return plain_differences_; }
  /// Per draw the share of states at or below a threshold.
  Eigen::VectorXd below(double threshold) const;

  /// The value of the function where the coordinate is x.
  struct CarriedOver {
    double value;
    double slope;       ///< absolute
    double correction;  ///< for the curvature between two states; no error is smaller
  };
  CarriedOver carried_over(double x) const;

 private:
  /// Follows the coordinate that the scalar names, unless the values are not monotone in it.
  void follow_coordinate();
  void find_thresholds();
  void make_targets();
  void make_differences();
  void make_plain_differences();
  /// Sets columns of differences to 0 where all states are kept. Their rounding errors depend on
  /// the value alone: of a scalar with two values they would explain everything.
  void forget_rounding(Eigen::MatrixXd& columns) const;

  const Run& run_;
  const ScalarStates& scalar_;
  Eigen::VectorXd values_;
  Eigen::VectorXd measured_;  ///< what quantiles are taken of: the coordinate, or the values
  double measured_sd_ = 0;
  bool identical_ = false;  ///< the values are the coordinate itself
  bool falling_ = false;
  std::optional<Index> coordinate_;
  std::vector<Index> order_;  ///< states by the coordinate, if values differ from it
  std::vector<double> thresholds_;
  std::vector<std::vector<double>> fold_thresholds_;
  Eigen::MatrixXd targets_;
  Eigen::MatrixXd differences_;
  Eigen::MatrixXd plain_differences_;
};

}  // namespace rehmc::stein
