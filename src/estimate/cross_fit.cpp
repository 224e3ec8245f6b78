// Normal equations of the draws outside a fold, and what they leave unexplained inside it.
#include "cross_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rehmc {

namespace {

/// Relative to the variance of a feature: enough for features that depend on each other, too little
/// to be seen in any estimate.
constexpr double ridge = 1e-9;

Eigen::VectorXd inverse_sds(const Eigen::MatrixXd& covariance) {
  return covariance.diagonal().unaryExpr(
      [](double variance) { return variance > 0 ? 1 / std::sqrt(variance) : 0.0; });
}

double training_draws(const Eigen::MatrixXd& columns, const Fold& fold) {
  return static_cast<double>(columns.rows() - (fold.end - fold.begin));
}

}  // namespace

Eigen::RowVectorXd TrainingMoments::mean(const Eigen::MatrixXd& columns, const Fold& fold) {
  const Eigen::Index after = columns.rows() - fold.end;
  return (columns.topRows(fold.begin).colwise().sum() + columns.bottomRows(after).colwise().sum()) /
         training_draws(columns, fold);
}

Eigen::MatrixXd TrainingMoments::covariance(const Eigen::MatrixXd& a,
                                            const Eigen::RowVectorXd& a_mean,
                                            const Eigen::MatrixXd& b,
                                            const Eigen::RowVectorXd& b_mean, const Fold& fold) {
  const Eigen::Index after = a.rows() - fold.end;
  Eigen::MatrixXd products = a.topRows(fold.begin).transpose() * b.topRows(fold.begin);
  products.noalias() += a.bottomRows(after).transpose() * b.bottomRows(after);
  return products / training_draws(a, fold) - a_mean.transpose() * b_mean;
}

SharedColumns::SharedColumns(Eigen::MatrixXd columns, const Fold& fold)
    : columns_(std::move(columns)), mean_(TrainingMoments::mean(columns_, fold)) {
  Eigen::MatrixXd covariance = TrainingMoments::covariance(columns_, mean_, columns_, mean_, fold);
  inverse_sd_ = inverse_sds(covariance);
  covariance = inverse_sd_.asDiagonal() * covariance * inverse_sd_.asDiagonal();
  covariance.diagonal().array() += ridge;
  factor_.compute(covariance);
}

Eigen::MatrixXd SharedColumns::solve(const Eigen::MatrixXd& covariance) const {
  return inverse_sd_.asDiagonal() * factor_.solve(inverse_sd_.asDiagonal() * covariance);
}

CrossFit::CrossFit(Eigen::MatrixXd columns, Eigen::Index targets, const Fold& fold,
                   const SharedColumns& shared, bool use_shared)
    : fold_(fold), shared_(shared), columns_(std::move(columns)), targets_(targets) {
  mean_ = TrainingMoments::mean(columns_, fold);
  covariance_ = TrainingMoments::covariance(columns_, mean_, columns_, mean_, fold);
  if (!use_shared) return;
  const Eigen::MatrixXd with_shared =
      TrainingMoments::covariance(shared.columns(), shared.mean(), columns_, mean_, fold);
  explained_ = shared.solve(with_shared);
  covariance_left_ = covariance_ - with_shared.transpose() * explained_;
}

CrossFit::Fit CrossFit::fit(std::vector<Eigen::Index> features, bool with_shared,
                            const Targets& targets) const {
  const Eigen::MatrixXd& all = with_shared ? covariance_left_ : covariance_;
  const auto count = static_cast<Eigen::Index>(features.size());
  const Eigen::Index tested = fold_.end - fold_.begin;
  const Eigen::Index first_target = columns_.cols() - targets_ + targets.first;
  Fit result;
  result.targets = targets;
  result.own.resize(count, targets.count);
  // The fold's means of the features, for the dependence: own ones less what the shared explain.
  Eigen::VectorXd own_mean(count);
  Eigen::VectorXd shared_mean;
  if (with_shared) {
    shared_mean = shared_.columns().middleRows(fold_.begin, tested).colwise().mean().transpose();
  }
  if (count > 0) {
    const Eigen::VectorXd inverse_sd = inverse_sds(covariance_);
    Eigen::MatrixXd squares(count, count);
    for (Eigen::Index a = 0; a < count; ++a) {
      const Eigen::Index column = features[static_cast<std::size_t>(a)];
      for (Eigen::Index b = 0; b < count; ++b) {
        const Eigen::Index other = features[static_cast<std::size_t>(b)];
        squares(a, b) = inverse_sd[column] * all(column, other) * inverse_sd[other];
      }
      result.own.row(a) = inverse_sd[column] * all.row(column).segment(first_target, targets.count);
      own_mean[a] = columns_.col(column).segment(fold_.begin, tested).mean();
      if (with_shared) own_mean[a] -= explained_.col(column).dot(shared_mean);
      own_mean[a] *= inverse_sd[column];
    }
    squares.diagonal().array() += ridge;
    const Eigen::LDLT<Eigen::MatrixXd> factor(squares);
    result.own = factor.solve(result.own).eval();
    own_mean = factor.solve(own_mean).eval();
    for (Eigen::Index a = 0; a < count; ++a) {
      const double scale = inverse_sd[features[static_cast<std::size_t>(a)]];
      result.own.row(a) *= scale;
      own_mean[a] *= scale;
    }
  }
  result.dependence.setZero(columns_.rows());
  for (Eigen::Index a = 0; a < count; ++a) {
    const Eigen::Index column = features[static_cast<std::size_t>(a)];
    result.dependence.array() += own_mean[a] * (columns_.col(column).array() - mean_[column]);
  }
  if (with_shared) {
    result.shared = explained_.middleCols(first_target, targets.count);
    Eigen::VectorXd of_shared = shared_.solve(shared_mean);
    for (Eigen::Index a = 0; a < count; ++a) {
      const auto explained = explained_.col(features[static_cast<std::size_t>(a)]);
      result.shared.noalias() -= explained * result.own.row(a);
      of_shared -= own_mean[a] * explained;
    }
    result.dependence.array() -= shared_.mean().dot(of_shared);
    result.shared_dependence = of_shared;
  }
  result.features = std::move(features);
  return result;
}

std::vector<Eigen::MatrixXd> CrossFit::residuals(std::vector<Fit>& fits) const {
  Eigen::Index wide = 0;
  for (const Fit& fit : fits) wide += fit.shared.size() > 0 ? fit.targets.count + 1 : 0;
  Eigen::MatrixXd coefficients(shared_.size(), wide);
  Eigen::Index used = 0;
  for (const Fit& fit : fits) {
    if (fit.shared.size() == 0) continue;
    coefficients.middleCols(used, fit.targets.count) = fit.shared;
    coefficients.col(used + fit.targets.count) = fit.shared_dependence;
    used += fit.targets.count + 1;
  }
  Eigen::MatrixXd explained;
  if (wide > 0) explained.noalias() = shared_.columns() * coefficients;
  used = 0;
  std::vector<Eigen::MatrixXd> all;
  for (Fit& fit : fits) {
    Eigen::MatrixXd& left = all.emplace_back(
        columns_.middleCols(columns_.cols() - targets_ + fit.targets.first, fit.targets.count));
    for (std::size_t a = 0; a < fit.features.size(); ++a) {
      left.noalias() -= columns_.col(fit.features[a]) * fit.own.row(static_cast<Eigen::Index>(a));
    }
    if (fit.shared.size() == 0) continue;
    left -= explained.middleCols(used, fit.targets.count);
    fit.dependence += explained.col(used + fit.targets.count);
    used += fit.targets.count + 1;
  }
  return all;
}

}  // namespace rehmc
