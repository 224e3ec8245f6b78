// Private to sharpen/: one scalar: what is to be explained, by which features, and what is left.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "own_features.hpp"

namespace rehmc::stein {

inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
inline constexpr auto set_count = static_cast<std::size_t>(FeatureSet::quadratic) + 1;
/// What is known, with no feature in use.
SharpenedEstimate unsharpened(const Estimate& known);

/// What a set of features leaves of a target, with the effect of every draw on the coefficients.
struct Candidate {
  FeatureSet set;
  Eigen::VectorXd influence;
};

/// The set that leaves the least long-run variance of a moment. One whose error is hardly known
/// must be better by far than a rival's that is known.
FeatureSet best_of_moment(const std::vector<Candidate>& candidates, Errors& errors);
/// That of an indicator. A larger set must leave less in every fold: where two do equally well and
/// few draws decide, the choice goes with the error, and biases the estimate.
FeatureSet best_of_indicator(const std::vector<Candidate>& candidates, Errors& errors,
                             const std::vector<Fold>& folds);

/// One scalar: targets, features, choice.
class ScalarFit {
 public:
  ScalarFit(Run& run, const ScalarStates& scalar);

  /// Whether its quantiles are those of a coordinate, carried over.
  bool follows_coordinate() const { return coordinate_.has_value(); }
  /// Where the fields of every fold's thresholds lie.
  const std::vector<std::vector<double>>& thresholds() const { return fold_thresholds_; }

  /// What a fold's regressions are made of, for all draws: the own features, what the states that
  /// were not kept add, and the targets.
  void put_columns(const OwnFeatures& own, Eigen::Ref<Eigen::MatrixXd> columns) const;
  /// Their number.
  Index columns_for(const OwnFeatures& own) const;
  /// That of a coordinate with the standard quantiles, not all of whose states were kept.
  static Index columns_of_coordinate(const Run& run, std::size_t fold);
  /// Fits one fold by all sets of features, given those columns, what the fold's shared columns
  /// leave of them, and the own coordinate; null for a function of many.
  void fit(std::size_t fold, const OwnFeatures& own, const CrossFit::Columns& columns,
           const CrossFit::Columns& remainders, const CoordinateStates* states);
  /// Once all folds are fitted: by the best set for every summary.
  SharpenedEstimate choose(const std::vector<CoordinateStates>& states);

  const Eigen::VectorXd& values() const { return values_; }

 private:
  static constexpr Index moment_targets = 2;

  void gather_values();
  /// Measures the coordinate that the scalar says it follows, if it does: a function of one
  /// coordinate that is not monotone is one of many as well.
  void follow_coordinate();
  /// Those of a fold are roughly the quantiles of the draws outside. Thresholds that depended on a
  /// draw would not leave its features the mean 0: by as little as Bahadur's remainder, which is a
  /// lot here.
  void find_thresholds();

  double measured_probability(double probability) const;

  void make_targets();

  Eigen::VectorXd below(double threshold) const;

  /// Summaries that share their features: a feature must not have a heavier tail than what it is to
  /// explain, or it spoils the error bar.
  enum Group : std::size_t { of_mean, of_sd, of_quantiles, groups };
  /// Feature columns for each group.
  using Columns = std::array<std::vector<Index>, groups>;

  /// Feature columns of the sets, as they stand in the table that fit_all() makes.
  struct Layout {
    Columns constant;  ///< of constant fields: the gradients themselves
    Columns bounded;   ///< of thresholds, and what the states that were not kept add
    Columns growing;   ///< those, and of growing fields
    Index own = 0;     ///< number of own columns
    bool power_law = false;
  };

  static Index largest(const Columns& columns);

  static Columns joined(const Columns& a, const Columns& b);

  Layout lay_out(const OwnFeatures& own, std::size_t fold) const;

  /// What the indicator and the own feature of every threshold change by, in the draws of a fold,
  /// if the threshold moves from where the fold has it to where all have it.
  void move_thresholds(std::size_t f, const CrossFit::Columns& columns,
                       const CoordinateStates* states);

  /// Fits by rows beside all others.
  void fit_rows(std::size_t f, const CoordinateStates& states, const CrossFit& alone,
                const CrossFit& together, const Columns& others, const Layout& layout);

  /// The features of fields that grow with other coordinates: those that go best with what is left
  /// in the draws that fits are made on.
  Eigen::MatrixXd rows_of(std::size_t f, const CoordinateStates& states, const CrossFit& regression,
                          const Columns& features) const;

  /// Fits a fold by a set of features, unless they are too many for the draws; `shared` of them
  /// are in the regression already.
  void fit_by(FeatureSet set, const Columns& features, std::size_t f, const CrossFit& regression,
              Index shared, const Layout& layout);
  /// Keeps what a fit leaves of the draws of its fold.
  void keep(FeatureSet set, std::size_t f, const CrossFit& regression, const CrossFit::Fit& fit);

  /// The coefficient of each quantile's own threshold, which is then moved to where all have it.
  void keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit, const Layout& layout);

  /// The draws of a fold depend on all others through the coefficients. Their first-order effect
  /// belongs to the error: without it, error bars of folds that share an outlier are too small.
  void count_dependence(FeatureSet set, const Fold& fold, const CrossFit::Fit& fit,
                        const Eigen::MatrixXd& residuals);

  static std::size_t index(FeatureSet set) { return static_cast<std::size_t>(set); }

  FeatureSet best_set(Index target);

  Eigen::VectorXd effect_of(FeatureSet set, Index target) const;

  /// Whether what a set leaves of a moment has a finite variance, as far as one can tell.
  bool has_error(FeatureSet set, Index target, double error) const;
  /// No error is smaller than what rounding makes of it.
  double floored(double error) const;

  void count_effective_draws(Estimate& estimate) const;

  class Distribution;
  void sharpen_quantile(std::size_t t, const std::vector<CoordinateStates>& states);

  /// The value of a monotone function of the coordinate at x.
  struct CarriedOver {
    double value;
    double slope;       ///< there, without its sign
    double correction;  ///< for the function's bend between two states; no error is smaller
  };
  CarriedOver carried_over(double x) const;

  Run& run_;
  const ScalarStates& scalar_;
  SharpenedEstimate result_;
  Eigen::VectorXd values_;
  Eigen::VectorXd measured_;  ///< what quantiles are taken of: the coordinate, or the values
  double measured_sd_ = 0;
  bool identical_ = false;
  bool falling_ = false;
  std::optional<Index> coordinate_;  ///< that it is a monotone function of
  std::vector<Index> order_;         ///< states by the coordinate, if values differ from it
  std::vector<double> thresholds_;   ///< where quantiles are looked for
  std::vector<std::vector<double>> fold_thresholds_;  ///< where a fold's fields have theirs
  Eigen::MatrixXd indicator_moves_;                   ///< from those to these, in one fold
  Eigen::MatrixXd feature_moves_;
  Eigen::MatrixXd threshold_features_;  ///< of the thresholds where quantiles are looked for
  double centre_ = 0;
  double scale_ = 1;
  double shape_ = 0;             ///< of the tails
  Eigen::MatrixXd targets_;      ///< y, y^2, indicators
  Eigen::MatrixXd differences_;  ///< of y and y^2: all states less the kept ones
  std::array<Eigen::MatrixXd, set_count> left_;
  std::array<Eigen::MatrixXd, set_count> effects_;  ///< of every draw on the coefficients
  std::vector<std::array<Eigen::VectorXd, set_count>> slopes_;  ///< by fold
};

}  // namespace rehmc::stein
