// One scalar: what is to be explained, by which features, and what they leave unexplained.
#include "scalar_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/estimate/quantiles.hpp"

namespace rehmc::stein {

namespace {

/// A growing feature must look lighter than this to go with a bounded function.
constexpr double lightest_tail = 0.3;
/// A coordinate with a heavier tail than this has a power law, as far as one can tell; then only
/// bounded fields go well with bounded functions, such as indicators.
constexpr double power_law_tail = 0.12;
/// So has a run whose coordinates have heavier tails than this on average, which is known better.
constexpr double typical_power_law = 0.07;
/// A growing feature with a heavier tail has hardly a mean.
constexpr double heaviest_growing = 1.0;
/// But one that is no heavier than its target, give or take this, may be just what cancels it.
constexpr double as_heavy = 0.25;
/// The highest power of z in fields that go with indicators; see Run::powers().
constexpr Eigen::Index highest_for_indicators = 1;
/// Up to this dimension rows are looked at; the best of them take part.
constexpr Eigen::Index row_dimension = 100;
constexpr std::size_t most_rows = 24;

}  // namespace

SharpenedEstimate unsharpened(const Estimate& known) {
  SharpenedEstimate result;
  result.estimate = known;
  result.quantile_sets.assign(known.quantiles.size(), FeatureSet::none);
  return result;
}

ScalarFit::ScalarFit(Run& run, const ScalarStates& scalar) : run_(run), scalar_(scalar) {
  result_ = unsharpened(scalar.known);
  gather_values();
  make_targets();
  shape_ = std::max(0.0, run_.shape((values_.array() - centre_).matrix()));
  left_[index(FeatureSet::none)] = targets_;
  if (differences_.cols() > 0) {
    left_[index(FeatureSet::none)].leftCols(moment_targets) += differences_;
  }
  threshold_features_.setZero(targets_.rows(), to_index(thresholds_.size()));
  slopes_.resize(run.folds.size());
}

void ScalarFit::gather_values() {
  if (run_.is_coordinate(scalar_)) {
    values_ = run_.table.positions.col(to_index(*scalar_.coordinate));
  } else {
    values_.resize(run_.table.states());
    Index s = 0;
    for (const Series& chain : scalar_.values) {
      for (std::size_t k = 0; k < chain.size; ++k) values_[s++] = chain[k];
    }
    if (s != run_.table.states()) {
      throw DataError(fmt::format("a scalar has {} values for {} states", s, run_.table.states()));
    }
  }
  follow_coordinate();
  measured_sd_ = std::sqrt((measured_.array() - measured_.mean()).square().mean());
  find_thresholds();
}

void ScalarFit::follow_coordinate() {
  measured_ = values_;
  if (!scalar_.coordinate) return;
  coordinate_ = to_index(*scalar_.coordinate);
  measured_ = run_.table.positions.col(*coordinate_);
  identical_ = measured_ == values_;
  if (identical_) return;
  order_.resize(static_cast<std::size_t>(values_.size()));
  std::iota(order_.begin(), order_.end(), Index{0});
  std::sort(order_.begin(), order_.end(),
            [&](Index a, Index b) { return measured_[a] < measured_[b]; });
  falling_ = values_[order_.front()] > values_[order_.back()];
  const bool monotone = std::is_sorted(order_.begin(), order_.end(), [&](Index a, Index b) {
    return falling_ ? values_[a] > values_[b] : values_[a] < values_[b];
  });
  if (monotone) return;
  order_.clear();
  coordinate_.reset();
  measured_ = values_;
  falling_ = false;
}

void ScalarFit::find_thresholds() {
  const auto quantiles = [&](std::vector<double> values, std::span<const double> weights) {
    const EmpiricalDistribution distribution(std::move(values), weights);
    std::vector<double> found;
    for (const QuantileEstimate& quantile : scalar_.known.quantiles) {
      found.push_back(distribution.quantile(measured_probability(quantile.probability)));
    }
    return found;
  };
  if (coordinate_ && !identical_) {
    thresholds_ =
        quantiles({measured_.begin(), measured_.end()},
                  {run_.table.weights.data(), static_cast<std::size_t>(run_.table.weights.size())});
  } else {
    for (const QuantileEstimate& quantile : scalar_.known.quantiles) {
      thresholds_.push_back(quantile.value);
    }
  }
  for (const Fold& fold : run_.folds) {
    if (!coordinate_) {
      fold_thresholds_.push_back(thresholds_);
      continue;
    }
    constexpr std::size_t enough = 4000;
    std::vector<double> values;
    std::vector<double> weights;
    for (const Index s : run_.training_states(fold, enough)) {
      values.push_back(measured_[s]);
      weights.push_back(run_.table.weights[s]);
    }
    fold_thresholds_.push_back(quantiles(std::move(values), weights));
  }
}

double ScalarFit::measured_probability(double probability) const {
  return falling_ ? 1 - probability : probability;
}

void ScalarFit::make_targets() {
  const StateTable& table = run_.table;
  scale_ = scalar_.known.sd;
  centre_ = scalar_.known.mean;
  const auto y = [&](Index s) { return (values_[s] - centre_) / scale_; };
  targets_.resize(to_index(table.draws()), moment_targets + to_index(thresholds_.size()));
  targets_.col(0) = table.draw_means(y);
  targets_.col(1) = table.draw_means([&](Index s) { return y(s) * y(s); });
  for (std::size_t t = 0; t < thresholds_.size(); ++t) {
    targets_.col(moment_targets + to_index(t)) = below(thresholds_[t]);
  }
  if (scalar_.first.empty()) return;
  // What the states that were not kept would add: it has the mean 0 as well.
  differences_.resize(targets_.rows(), moment_targets);
  Index n = 0;
  const double shift = scalar_.centre - centre_;
  for (std::size_t c = 0; c < scalar_.first.size(); ++c) {
    for (std::size_t i = 0; i < scalar_.first[c].size; ++i, ++n) {
      const double offset = scalar_.first[c][i];
      const double square = scalar_.second[c][i] + shift * (2 * offset + shift);
      differences_(n, 0) = (offset + shift) / scale_ - targets_(n, 0);
      differences_(n, 1) = square / (scale_ * scale_) - targets_(n, 1);
    }
  }
}

Eigen::VectorXd ScalarFit::below(double threshold) const {
  return run_.table.draw_means([&](Index s) { return measured_[s] <= threshold ? 1.0 : 0.0; });
}

Index ScalarFit::largest(const Columns& columns) {
  std::size_t most = 0;
  for (const auto& of_group : columns) most = std::max(most, of_group.size());
  return to_index(most);
}

ScalarFit::Columns ScalarFit::joined(const Columns& a, const Columns& b) {
  Columns both = a;
  for (std::size_t g = 0; g < groups; ++g) both[g].insert(both[g].end(), b[g].begin(), b[g].end());
  return both;
}

ScalarFit::Layout ScalarFit::lay_out(const OwnFeatures& own, std::size_t fold) const {
  Layout layout;
  layout.own = own.columns.cols();
  const Index power_columns = run_.powers(fold);
  const Index block = power_columns + to_index(thresholds_.size());
  const double shape = run_.training_shape(fold, (values_.array() - centre_).matrix());
  layout.power_law = shape > power_law_tail || run_.shape_z[fold].mean() > typical_power_law;
  // Moments have tails of their own, which growing fields may well cancel: the choice by the
  // error that is left decides. Indicators are bounded.
  const auto may_grow = [&](std::size_t group, Index power, const Shape& tail) {
    if (group == of_quantiles) {
      return power <= highest_for_indicators && !layout.power_law && tail.direct <= lightest_tail;
    }
    const double of_target = (group == of_sd ? 2 : 1) * shape;
    return tail.least() <= std::max(heaviest_growing, of_target + as_heavy);
  };
  Columns powers;
  for (Index column = 0; column < layout.own; ++column) {
    const Shape& tail = own.shapes[static_cast<std::size_t>(column)];
    const Index place = column % block;
    for (std::size_t g = 0; g < groups; ++g) {
      if (place == 0 || place >= power_columns) {
        if (tail.least() > heaviest_tail) continue;
        (place == 0 ? layout.constant : layout.bounded)[g].push_back(column);
      } else if (may_grow(g, power_of(place), tail)) {
        powers[g].push_back(column);
      }
    }
  }
  for (Index k = 0; k < differences_.cols(); ++k) {
    if (shape <= heaviest_tail) layout.bounded[of_mean].push_back(layout.own + k);
    if (2 * shape <= heaviest_tail) layout.bounded[of_sd].push_back(layout.own + k);
  }
  layout.growing = joined(layout.bounded, powers);
  return layout;
}

Index ScalarFit::columns_of_coordinate(const Run& run, std::size_t fold) {
  const auto thresholds = to_index(standard_probabilities.size());
  return run.powers(fold) + thresholds + moment_targets + moment_targets + thresholds;
}

Index ScalarFit::columns_for(const OwnFeatures& own) const {
  return own.columns.cols() + differences_.cols() + targets_.cols();
}

void ScalarFit::put_columns(const OwnFeatures& own, Eigen::Ref<Eigen::MatrixXd> columns) const {
  columns << own.columns, differences_, targets_;
  if (coordinate_) columns.rightCols(own.indicators.cols()) = own.indicators;
}

void ScalarFit::fit(std::size_t f, const OwnFeatures& own, const CrossFit::Columns& columns,
                    const CrossFit::Columns& remainders, const CoordinateStates* states) {
  const Layout layout = lay_out(own, f);
  move_thresholds(f, columns, states);
  const CrossFit alone(columns, targets_.cols(), run_.folds[f]);
  fit_by(FeatureSet::bounded, joined(layout.constant, layout.bounded), f, alone, 0, layout);
  fit_by(FeatureSet::own, joined(layout.constant, layout.growing), f, alone, 0, layout);
  const SharedColumns& shared = run_.shared[f];
  if (shared.size() == 0) return;

  // The gradients themselves are shared already.
  const Columns firsts = run_.linear[f].empty() ? layout.constant : Columns();
  const CrossFit together(alone, remainders, shared);
  // Of use for heavy tails alone, and not quite free.
  if (run_.table.dimension() <= small_dimension || layout.power_law) {
    fit_by(FeatureSet::bounded_linear, joined(firsts, layout.bounded), f, together, shared.size(),
           layout);
  }
  const Columns all = joined(firsts, layout.growing);
  fit_by(FeatureSet::linear, all, f, together, shared.size(), layout);
  if (states && run_.table.dimension() <= row_dimension) {
    fit_rows(f, *states, alone, together, all, layout);
  }
  if (!run_.quadratic.empty()) {
    const SharedColumns& quadratic = run_.quadratic[f];
    const Eigen::MatrixXd less = quadratic.remainders(columns);
    const CrossFit with_all(alone, less, quadratic);
    fit_by(FeatureSet::quadratic, all, f, with_all, quadratic.size(), layout);
    if (layout.power_law) {
      left_[index(FeatureSet::quadratic)]
          .rightCols(to_index(thresholds_.size()))
          .setConstant(nan_value);
    }
  }
}

void ScalarFit::move_thresholds(std::size_t f, const CrossFit::Columns& columns,
                                const CoordinateStates* states) {
  indicator_moves_.setZero(targets_.rows(), to_index(thresholds_.size()));
  feature_moves_ = indicator_moves_;
  if (!states) return;
  const Fold& fold = run_.folds[f];
  const Index count = fold.end - fold.begin;
  for (std::size_t t = 0; t < thresholds_.size(); ++t) {
    const Index column = to_index(t);
    auto features = threshold_features_.col(column).segment(fold.begin, count);
    features = Threshold(run_.table, run_.frames[f], *coordinate_, *states, thresholds_[t])
                   .means({0, 1}, fold.begin, fold.end);
    const Index target = columns.cols() - targets_.cols() + moment_targets + column;
    indicator_moves_.col(column).segment(fold.begin, count) =
        targets_.col(moment_targets + column).segment(fold.begin, count) -
        columns.col(target).segment(fold.begin, count);
    feature_moves_.col(column).segment(fold.begin, count) =
        features - columns.col(run_.powers(f) + column).segment(fold.begin, count);
  }
}

void ScalarFit::fit_rows(std::size_t f, const CoordinateStates& states, const CrossFit& alone,
                         const CrossFit& together, const Columns& others, const Layout& layout) {
  if (largest(others) == 0) return;
  const Eigen::MatrixXd rows = rows_of(f, states, together, others);
  const Index before = alone.columns().cols() - targets_.cols();
  const auto widened = [&](const CrossFit::Columns& columns, const Eigen::MatrixXd& more) {
    Eigen::MatrixXd wider(columns.rows(), columns.cols() + more.cols());
    wider << columns.leftCols(before), more, columns.rightCols(targets_.cols());
    return wider;
  };
  const SharedColumns& shared = run_.shared[f];
  const Eigen::MatrixXd columns = widened(alone.columns(), rows);
  const Eigen::MatrixXd remainders = widened(together.columns(), shared.remainders(rows));
  const CrossFit wider_alone(columns, targets_.cols(), run_.folds[f]);
  const CrossFit wider(wider_alone, remainders, shared);
  std::vector<Index> added(static_cast<std::size_t>(rows.cols()));
  std::iota(added.begin(), added.end(), before);
  const Columns wanted{added, added, layout.power_law ? std::vector<Index>() : added};
  fit_by(FeatureSet::row, joined(others, wanted), f, wider, shared.size(), layout);
}

Eigen::MatrixXd ScalarFit::rows_of(std::size_t f, const CoordinateStates& states,
                                   const CrossFit& regression, const Columns& features) const {
  Eigen::MatrixXd rows =
      run_.row_features(f, *coordinate_, states)(Eigen::all, run_.light_rows(f, *coordinate_));
  if (static_cast<std::size_t>(rows.cols()) <= most_rows) return rows;
  const Fold& fold = run_.folds[f];
  Eigen::MatrixXd left =
      regression.residuals(regression.fit(features[of_sd], {0, targets_.cols()}));
  left.middleRows(fold.begin, fold.end - fold.begin).setZero();
  Eigen::VectorXd relevance = Eigen::VectorXd::Zero(rows.cols());
  for (Index t = 0; t < left.cols(); ++t) {
    const double norm = left.col(t).squaredNorm();
    if (norm > 0) {
      relevance += (rows.transpose() * left.col(t)).cwiseAbs2() / norm;
    }
  }
  relevance.array() /= rows.colwise().squaredNorm().transpose().array();
  std::vector<Index> best(static_cast<std::size_t>(rows.cols()));
  std::iota(best.begin(), best.end(), Index{0});
  std::partial_sort(best.begin(), best.begin() + most_rows, best.end(),
                    [&](Index a, Index b) { return relevance[a] > relevance[b]; });
  best.resize(most_rows);
  return rows(Eigen::all, best);
}

void ScalarFit::fit_by(FeatureSet set, const Columns& features, std::size_t f,
                       const CrossFit& regression, Index shared, const Layout& layout) {
  const Index count = largest(features) + shared;
  if (count == 0 || count > run_.training_draws() / draws_per_feature) return;
  if (features[of_mean] == features[of_sd]) {
    keep(set, f, regression, regression.fit(features[of_mean], {0, moment_targets}));
  } else {
    keep(set, f, regression, regression.fit(features[of_mean], {0, 1}));
    keep(set, f, regression, regression.fit(features[of_sd], {1, 1}));
  }
  const CrossFit::Fit of_indicators =
      regression.fit(features[of_quantiles], {moment_targets, to_index(thresholds_.size())});
  keep(set, f, regression, of_indicators);
  keep_slopes(set, f, of_indicators, layout);
}

void ScalarFit::keep(FeatureSet set, std::size_t f, const CrossFit& regression,
                     const CrossFit::Fit& fit) {
  const Fold& fold = run_.folds[f];
  const Index count = fold.end - fold.begin;
  const Eigen::MatrixXd residuals = regression.residuals(fit);
  Eigen::MatrixXd& left = left_[index(set)];
  if (left.size() == 0) {
    left = run_.spare();
    left.setConstant(targets_.rows(), targets_.cols(), nan_value);
  }
  left.block(fold.begin, fit.targets.first, count, fit.targets.count) =
      residuals.middleRows(fold.begin, count);
  count_dependence(set, fold, fit, residuals);
}

void ScalarFit::keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit,
                            const Layout& layout) {
  Eigen::VectorXd slopes = Eigen::VectorXd::Zero(to_index(thresholds_.size()));
  if (coordinate_) {
    for (std::size_t a = 0; a < fit.features.size(); ++a) {
      const Index t = fit.features[a] - run_.powers(f);
      if (fit.features[a] < layout.own && t >= 0) slopes[t] = fit.coefficients(to_index(a), t);
    }
  }
  slopes_[f][index(set)] = slopes;
  if (!coordinate_) return;
  const Fold& fold = run_.folds[f];
  const Index count = fold.end - fold.begin;
  for (Index t = 0; t < slopes.size(); ++t) {
    left_[index(set)].col(moment_targets + t).segment(fold.begin, count) +=
        indicator_moves_.col(t).segment(fold.begin, count) -
        slopes[t] * feature_moves_.col(t).segment(fold.begin, count);
  }
}

void ScalarFit::count_dependence(FeatureSet set, const Fold& fold, const CrossFit::Fit& fit,
                                 const Eigen::MatrixXd& residuals) {
  Eigen::MatrixXd& effect = effects_[index(set)];
  if (effect.size() == 0) {
    effect = run_.spare();
    effect.setZero(targets_.rows(), targets_.cols());
  }
  const Index after = targets_.rows() - fold.end;
  const auto inside = static_cast<double>(fold.end - fold.begin);
  const double outside = static_cast<double>(targets_.rows()) - inside;
  const Eigen::RowVectorXd mean = TrainingMoments::mean(residuals, fold);
  const auto add = [&](Index first, Index count) {
    effect.block(first, fit.targets.first, count, fit.targets.count).array() -=
        (residuals.middleRows(first, count).rowwise() - mean).array().colwise() *
        (fit.dependence.segment(first, count).array() * (inside / outside));
  };
  add(0, fold.begin);
  add(fold.end, after);
}

}  // namespace rehmc::stein
