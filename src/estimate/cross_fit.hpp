// Private to estimate/: regression whose coefficients come from other draws than they are used on.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

namespace rehmc {

/// Draws [begin, end) that coefficients are used on; they are fitted on all others.
struct Fold {
  Eigen::Index begin;
  Eigen::Index end;
};

/// Columns that many regressions of one fold share, factored once.
class SharedColumns {
 public:
  SharedColumns() = default;
  SharedColumns(Eigen::MatrixXd columns, const Fold& fold);

  Eigen::Index size() const { return columns_.cols(); }
  const Eigen::MatrixXd& columns() const { return columns_; }
  const Eigen::RowVectorXd& mean() const { return mean_; }
  Eigen::MatrixXd solve(const Eigen::MatrixXd& covariance) const;

 private:
  Eigen::MatrixXd columns_;
  Eigen::RowVectorXd mean_;
  Eigen::VectorXd inverse_sd_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

/// Least squares of target columns on feature columns of one fold, with and without the shared
/// ones.
class CrossFit {
 public:
  /// All columns for all draws; the last `targets` ones are what is to be explained.
  CrossFit(Eigen::MatrixXd columns, Eigen::Index targets, const Fold& fold,
           const SharedColumns& shared, bool use_shared);

  /// Some of the targets.
  struct Targets {
    Eigen::Index first;
    Eigen::Index count;
  };
  /// Coefficients by these feature columns, maybe together with the shared ones.
  struct Fit {
    Targets targets;
    std::vector<Eigen::Index> features;
    Eigen::MatrixXd own;     ///< one row per feature, one column per target
    Eigen::MatrixXd shared;  ///< likewise for the shared columns; empty without them
    /// How the fold's mean of the features, times the coefficients, depends on the targets of the
    /// draws outside: it is the mean over those of target * dependence.
    /// Complete only once residuals were asked for.
    Eigen::VectorXd dependence;
    Eigen::VectorXd shared_dependence{};  ///< what the shared columns have to add to it
  };
  Fit fit(std::vector<Eigen::Index> features, bool with_shared, const Targets& targets) const;

  /// What fits leave of their targets in all draws; several at once share one long product.
  std::vector<Eigen::MatrixXd> residuals(std::vector<Fit>& fits) const;

 private:
  const Fold fold_;
  const SharedColumns& shared_;
  Eigen::MatrixXd columns_;
  Eigen::Index targets_;
  Eigen::RowVectorXd mean_;          ///< of all columns
  Eigen::MatrixXd covariance_;       ///< of all columns
  Eigen::MatrixXd explained_;        ///< coefficients of all columns on the shared ones
  Eigen::MatrixXd covariance_left_;  ///< of all columns, less what the shared ones explain
};

/// Cross-products and means of the draws outside a fold.
struct TrainingMoments {
  static Eigen::RowVectorXd mean(const Eigen::MatrixXd& columns, const Fold& fold);
  static Eigen::MatrixXd covariance(const Eigen::MatrixXd& a, const Eigen::RowVectorXd& a_mean,
                                    const Eigen::MatrixXd& b, const Eigen::RowVectorXd& b_mean,
                                    const Fold& fold);
};

}  // namespace rehmc
