// Normal equations of the draws outside a fold, and what they leave unexplained inside it.
#include "cross_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/products.hpp"

namespace rehmc {

namespace {

/// Relative to the variance of a feature: enough for features that depend on each other, too little
/// to be seen in any estimate.
constexpr double ridge = 1e-9;

Eigen::VectorXd inverse_sds(const Eigen::VectorXd& variances) {
  return variances.unaryExpr(
      [](double variance) { return variance > 0 ? 1 / std::sqrt(variance) : 0.0; });
}

double sum_of(const double* numbers, Eigen::Index count) {
  return hot_loop([=] {
    return lane_sum(static_cast<std::size_t>(count), [=](std::size_t i) { return numbers[i]; });
  });
}

double training_draws(const Eigen::Ref<const Eigen::MatrixXd>& columns, const Fold& fold) {
  return static_cast<double>(columns.rows() - fold.count());
}

}  // namespace

Eigen::RowVectorXd TrainingMoments::mean(const Eigen::Ref<const Eigen::MatrixXd>& columns,
                                         const Fold& fold) {
  Eigen::RowVectorXd sums(columns.cols());
  for (Eigen::Index i = 0; i < columns.cols(); ++i) {
    const double* const column = columns.col(i).data();
    sums[i] = sum_of(column, fold.begin) + sum_of(column + fold.end, columns.rows() - fold.end);
  }
  return sums / training_draws(columns, fold);
}

Eigen::MatrixXd TrainingMoments::covariance(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                            const Eigen::RowVectorXd& a_mean,
                                            const Eigen::Ref<const Eigen::MatrixXd>& b,
                                            const Eigen::RowVectorXd& b_mean, const Fold& fold) {
  const Eigen::Index after = a.rows() - fold.end;
  const bool same = a.data() == b.data() && a.cols() == b.cols();
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(a.cols(), b.cols());
  const auto add = [&](Eigen::Index first, Eigen::Index count) {
    add_product(1, by_columns(a.middleRows(first, count)).transposed(),
                by_columns(b.middleRows(first, count)), into(products),
                same ? ProductPart::lower : ProductPart::all);
  };
  add(0, fold.begin);
  add(fold.end, after);
  if (same) products.triangularView<Eigen::StrictlyUpper>() = products.transpose();
  return products / training_draws(a, fold) - a_mean.transpose() * b_mean;
}

SharedColumns::SharedColumns(Eigen::MatrixXd columns, const Fold& fold)
    : fold_(fold), columns_(std::move(columns)), mean_(TrainingMoments::mean(columns_, fold)) {
  Eigen::MatrixXd covariance = TrainingMoments::covariance(columns_, mean_, columns_, mean_, fold);
  inverse_sd_ = inverse_sds(covariance.diagonal());
  covariance = inverse_sd_.asDiagonal() * covariance * inverse_sd_.asDiagonal();
  covariance.diagonal().array() += ridge;
  factor_.compute(covariance);
  const Eigen::VectorXd fold_mean = columns_.middleRows(fold.begin, fold.count()).colwise().mean();
  dependence_ = (columns_.rowwise() - mean_) * solve(fold_mean);
}

Eigen::MatrixXd SharedColumns::solve(const Eigen::MatrixXd& covariance) const {
  return inverse_sd_.asDiagonal() * factor_.solve(inverse_sd_.asDiagonal() * covariance);
}

Eigen::MatrixXd SharedColumns::remainders(const Eigen::Ref<const Eigen::MatrixXd>& others) const {
  Eigen::MatrixXd left;
  remainders(others, left);
  return left;
}

void SharedColumns::remainders(const Eigen::Ref<const Eigen::MatrixXd>& others,
                               Eigen::MatrixXd& left) const {
  left = others;
  if (size() == 0) return;
  const Eigen::RowVectorXd mean = TrainingMoments::mean(others, fold_);
  const Eigen::MatrixXd explained =
      solve(TrainingMoments::covariance(columns_, mean_, others, mean, fold_));
  add_product(-1, by_columns(columns_), by_columns(explained), into(left));
}

CrossFit::CrossFit(const Columns& columns, const stein::ColumnRange& targets, const Fold& fold)
    : fold_(fold), columns_(columns), targets_(targets) {
  mean_ = TrainingMoments::mean(columns_, fold);
  const auto features = columns_.leftCols(targets_.first);
  covariance_ =
      TrainingMoments::covariance(features, mean_.head(targets_.first), columns_, mean_, fold);
  inverse_sd_ = inverse_sds(covariance_.diagonal());
}

CrossFit::CrossFit(const Columns& remainders, const stein::ColumnRange& targets, const Fold& fold,
                   const Eigen::VectorXd& scales, const SharedColumns& shared)
    : CrossFit(remainders, targets, fold) {
  // The ridge is relative to the whole features: of a feature that the shared ones explain, only
  // rounding errors are left.
  inverse_sd_ = scales;
  shared_dependence_ = shared.dependence();
}

Eigen::VectorXd CrossFit::scales_of(const Columns& columns, const Fold& fold) {
  const Eigen::RowVectorXd mean = TrainingMoments::mean(columns, fold);
  const Eigen::Index after = columns.rows() - fold.end;
  const Eigen::RowVectorXd squares = columns.topRows(fold.begin).colwise().squaredNorm() +
                                     columns.bottomRows(after).colwise().squaredNorm();
  const Eigen::VectorXd variances =
      (squares / training_draws(columns, fold) - mean.cwiseAbs2()).transpose();
  return inverse_sds(variances);
}

CrossFit::Fit CrossFit::fit(std::vector<Eigen::Index> features,
                            const stein::ColumnRange& targets) const {
  const auto count = static_cast<Eigen::Index>(features.size());
  Fit result;
  result.targets = targets;
  const Eigen::VectorXd scale = inverse_sd_(features);
  Eigen::MatrixXd squares =
      scale.asDiagonal() * covariance_(features, features) * scale.asDiagonal();
  squares.diagonal().array() += ridge;
  const Eigen::LDLT<Eigen::MatrixXd> factor(squares);
  const auto solve = [&](const Eigen::MatrixXd& right) -> Eigen::MatrixXd {
    if (count == 0) return right;
    return scale.asDiagonal() * factor.solve(scale.asDiagonal() * right);
  };
  result.coefficients =
      solve(covariance_.middleCols(targets_[targets.first], targets.count)(features, Eigen::all));
  Eigen::VectorXd fold_mean(count);
  for (Eigen::Index a = 0; a < count; ++a) {
    fold_mean[a] = fold_.of(columns_.col(features[static_cast<std::size_t>(a)])).mean();
  }
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(targets_.first);
  weights(features) = solve(fold_mean);
  result.dependence.noalias() = columns_.leftCols(targets_.first) * weights;
  result.dependence.array() -= mean_.head(targets_.first).dot(weights);
  if (shared_dependence_.size() > 0) result.dependence += shared_dependence_;
  result.features = std::move(features);
  return result;
}

Eigen::MatrixXd CrossFit::residuals(const std::vector<Fit>& fits) const {
  Eigen::MatrixXd coefficients = Eigen::MatrixXd::Zero(targets_.first, targets_.count);
  for (const Fit& fit : fits) {
    coefficients.middleCols(fit.targets.first, fit.targets.count)(fit.features, Eigen::all) =
        fit.coefficients;
  }
  Eigen::MatrixXd left = targets_.of(columns_);
  add_product(-1, by_columns(columns_.leftCols(targets_.first)), by_columns(coefficients),
              into(left));
  return left;
}

}  // namespace rehmc
