// Private to sharpen/: regression whose coefficients come from other draws than they are used on.
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
  /// What the shared columns leave of others, in all draws. Many at once are quicker.
  Eigen::MatrixXd remainders(const Eigen::Ref<const Eigen::MatrixXd>& others) const;
  /// The same into a matrix that is kept between calls.
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

/// Least squares of target columns on feature columns of one fold. The columns are seen, not owned:
/// they are too many to be copied for every regression.
class CrossFit {
 public:
  using Columns = Eigen::Ref<const Eigen::MatrixXd>;
  /// All columns for all draws; the last `targets` ones are what is to be explained.
  CrossFit(const Columns& columns, Eigen::Index targets, const Fold& fold);
  /// The same columns together with shared ones, given what those leave of them.
  CrossFit(const CrossFit& alone, const Columns& remainders, const SharedColumns& shared);

  /// Some of the targets.
  struct Targets {
    Eigen::Index first;
    Eigen::Index count;
  };
  /// Coefficients by some of the feature columns.
  struct Fit {
    Targets targets;
    std::vector<Eigen::Index> features;
    Eigen::MatrixXd coefficients;  ///< one row per feature, one column per target
    /// How the fold's mean of what is explained depends on the targets of the draws outside: it is
    /// the mean over those of target * dependence.
    Eigen::VectorXd dependence;
  };
  Fit fit(std::vector<Eigen::Index> features, const Targets& targets) const;

  /// What a fit leaves of its targets in all draws.
  Eigen::MatrixXd residuals(const Fit& fit) const;

  const Columns& columns() const { return columns_; }

 private:
  Fold fold_;
  Columns columns_;
  Eigen::Index targets_;
  Eigen::RowVectorXd mean_;
  Eigen::MatrixXd covariance_;
  Eigen::VectorXd inverse_sd_;         ///< of the columns without shared ones
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
