// Private to sharpen/: regression with coefficients that come from other draws than they serve.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

#include "columns.hpp"

namespace rehmc {

/// Draws [begin, end). The coefficients that serve them are fitted on all others.
struct Fold {
  Eigen::Index begin;
  Eigen::Index end;

  Eigen::Index count() const { return end - begin; }
  /// The entries of a series for these draws.
  template <class Series>
  auto of(Series&& series) const {
    return series.segment(begin, count());
  }
};

/// Columns that many regressions of one fold share, factored once.
class SharedColumns {
 public:
  SharedColumns() = default;
  SharedColumns(Eigen::MatrixXd columns, const Fold& fold);

  Eigen::Index size() const { return columns_.cols(); }
  const Eigen::MatrixXd& columns() const { return columns_; }
  /// What the shared columns leave of others, in all draws. Faster for many at once.
  Eigen::MatrixXd remainders(const Eigen::Ref<const Eigen::MatrixXd>& others) const;
  /// The same, into a matrix whose memory is reused.
  void remainders(const Eigen::Ref<const Eigen::MatrixXd>& others, Eigen::MatrixXd& left) const;
  /// How the fold's mean of what they explain of any column depends on that column in the draws
  /// outside; see CrossFit::Fit.
  const Eigen::VectorXd& dependence() const { return dependence_; }

 private:
  Eigen::MatrixXd solve(const Eigen::MatrixXd& covariance) const;

  Fold fold_{};
  Eigen::MatrixXd columns_;
  Eigen::RowVectorXd mean_;
  Eigen::VectorXd inverse_sd_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd dependence_;
};

/// Least squares of target columns on feature columns for one fold. Refers to the columns, which
/// are too many to copy for every regression.
class CrossFit {
 public:
  using Columns = Eigen::Ref<const Eigen::MatrixXd>;
  /// All columns for all draws; features first, then the targets, which are to be explained.
  CrossFit(const Columns& columns, const stein::ColumnRange& targets, const Fold& fold);
  /// Columns together with shared ones, given what the shared ones leave of them, and the scales of
  /// the columns as they were.
  CrossFit(const Columns& remainders, const stein::ColumnRange& targets, const Fold& fold,
           const Eigen::VectorXd& scales, const SharedColumns& shared);

  /// The inverse sds of columns in the draws outside a fold.
  static Eigen::VectorXd scales_of(const Columns& columns, const Fold& fold);
  const Eigen::VectorXd& scales() const { return inverse_sd_; }

  /// Coefficients of some of the feature columns.
  struct Fit {
    stein::ColumnRange targets;  ///< which of the targets, counted from the first one
    std::vector<Eigen::Index> features;
    Eigen::MatrixXd coefficients;  ///< one row per feature, one column per target
    /// How the fold's mean of the explained part depends on the targets of the draws outside: it is
    /// the mean over these draws of target * dependence.
    Eigen::VectorXd dependence;
  };
  Fit fit(std::vector<Eigen::Index> features, const stein::ColumnRange& targets) const;

  /// What fits leave of their targets in all draws. Together they are to have all targets, in
  /// order.
  Eigen::MatrixXd residuals(const std::vector<Fit>& fits) const;

  const Columns& columns() const { return columns_; }

 private:
  Fold fold_;
  Columns columns_;
  stein::ColumnRange targets_;
  Eigen::RowVectorXd mean_;
  Eigen::MatrixXd covariance_;         ///< of features with all columns
  Eigen::VectorXd inverse_sd_;         ///< of the columns before the shared ones are taken out
  Eigen::VectorXd shared_dependence_;  ///< empty without them
};

/// Cross-products and means of the draws outside a fold.
struct TrainingMoments {
  static Eigen::RowVectorXd mean(const Eigen::Ref<const Eigen::MatrixXd>& columns,
                                 const Fold& fold);
  static Eigen::MatrixXd covariance(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                    const Eigen::RowVectorXd& a_mean,
                                    const Eigen::Ref<const Eigen::MatrixXd>& b,
                                    const Eigen::RowVectorXd& b_mean, const Fold& fold);
};

}  // namespace rehmc
