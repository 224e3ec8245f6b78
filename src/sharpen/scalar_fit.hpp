// Private to sharpen/: regression of one scalar on every set of features, and what is left of it.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "columns.hpp"
#include "own_features.hpp"
#include "scalar_target.hpp"

namespace rehmc::stein {

/// What every set of features leaves of the targets of a scalar. The draws of a fold are corrected
/// with coefficients from the others.
struct Remainders {
  static std::size_t index(FeatureSet set) { return static_cast<std::size_t>(set); }

  /// By set; empty if it was not fitted, NaN in targets that were not.
  std::array<Eigen::MatrixXd, feature_sets> left;
  /// By set: the effect of every draw on the mean through the coefficients, to first order; empty
  /// without coefficients.
  std::array<Eigen::MatrixXd, feature_sets> effects;
  /// By fold and set: the coefficient of each quantile's own threshold; 0 for a function of many
  /// coordinates.
  std::vector<std::array<Eigen::VectorXd, feature_sets>> slopes;
  /// The features of the thresholds where quantiles are looked for.
  Eigen::MatrixXd threshold_features;

  bool fitted(FeatureSet set, Index target) const;
  Eigen::VectorXd effect_of(FeatureSet set, Index target) const;
};

/// Fits one scalar, fold by fold.
class ScalarFit {
 public:
  ScalarFit(Run& run, const ScalarStates& scalar);

  const ScalarTarget& target() const { return target_; }
  Remainders& remainders() { return remainders_; }

  /// The columns of a fold's regressions.
  ScalarColumns columns_for(const OwnFeatures& own) const;
  /// Those of a coordinate with the standard quantiles, not all of whose states were kept.
  static ScalarColumns columns_of_coordinate(const Run& run, std::size_t fold);
  /// Writes them for all draws.
  void put_columns(const OwnFeatures& own, Eigen::Ref<Eigen::MatrixXd> columns) const;
  /// Fits one fold by all sets of features, given those columns, what the fold's shared columns
  /// leave of them, and the own coordinate; null for a function of many.
  void fit(std::size_t fold, const OwnFeatures& own, const CrossFit::Columns& columns,
           const CrossFit::Columns& remainders, const CoordinateStates* states);

 private:
  /// Fits what recycling loses where the plain chain is super-efficient.
  void fit_plain();

  /// Summaries that use the same features. A feature must not have a heavier tail than what it is
  /// to explain, or it spoils the error bar.
  enum Group : std::size_t { of_mean, of_sd, of_quantiles, group_count };
  /// Feature columns for each group of summaries.
  using Features = std::array<std::vector<Index>, group_count>;
  static Index largest(const Features& features);
  static Features joined(const Features& a, const Features& b);

  /// The features of one fold that its regressions may use.
  struct FoldFeatures {
    ScalarColumns columns;
    Features constant;  ///< of constant fields: the gradients themselves
    Features bounded;   ///< of thresholds, and the differences
    Features growing;   ///< bounded, and those of growing fields
    bool power_law = false;
  };
  FoldFeatures select_features(const OwnFeatures& own, std::size_t fold) const;

  /// How much the indicator and the own feature of every threshold change in the draws of a fold
  /// when the threshold moves from where the fold has it to where quantiles are looked for.
  void move_thresholds(std::size_t f, const ScalarColumns& layout, const CrossFit::Columns& columns,
                       const CoordinateStates* states);

  /// Adds fields that grow with other coordinates.
  void fit_rows(std::size_t f, const CoordinateStates& states, const CrossFit& alone,
                const CrossFit& together, const Features& others, const FoldFeatures& features);
  /// The features of such fields that correlate best with what is left, in the training draws.
  Eigen::MatrixXd rows_of(std::size_t f, const CoordinateStates& states, const CrossFit& regression,
                          const Features& features) const;

  /// Whether there are enough draws for so many features.
  bool affordable(Index features) const;
  /// Fits a fold by a set of features, unless there are too many for the draws; `shared` of them
  /// are in the regression already.
  void fit_by(FeatureSet set, const Features& features, std::size_t f, const CrossFit& regression,
              Index shared, const OwnColumns& own);
  /// Stores what the fits of all targets leave of the draws of a fold.
  void keep(FeatureSet set, std::size_t f, const CrossFit& regression,
            const std::vector<CrossFit::Fit>& fits);
  /// Stores the coefficient of each quantile's own threshold, and moves that threshold to where
  /// quantiles are looked for.
  void keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit, const OwnColumns& own);
  /// The draws of a fold depend on all others through the coefficients. This first-order effect is
  /// part of the error: without it, folds that share an outlier get error bars that are too small.
  void count_dependence(FeatureSet set, const Fold& fold, const CrossFit::Fit& fit,
                        const Eigen::Ref<const Eigen::MatrixXd>& residuals);

  Run& run_;
  ScalarTarget target_;
  Remainders remainders_;
  Eigen::MatrixXd indicator_moves_;  ///< of the fold that is being fitted
  Eigen::MatrixXd feature_moves_;    ///< likewise
};

}  // namespace rehmc::stein
