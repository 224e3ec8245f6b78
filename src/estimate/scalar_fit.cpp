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
/// Moments whose tail is heavier than this get a warning. Shapes are underrated where chains take
/// long to come from the tails, so it must be less than the 0.5 of theory.
constexpr double surely_heavy = 0.4;
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
}

SharpenedEstimate ScalarFit::estimate(const std::vector<OwnFeatures>& own,
                                      const std::vector<CoordinateStates>& states) {
  make_targets();
  judge_tails();
  fit_all(own, states);
  choose(states);
  return std::move(result_);
}

void ScalarFit::gather_values() {
  values_.resize(run_.table.states());
  Index s = 0;
  for (const Series& chain : scalar_.values) {
    for (std::size_t k = 0; k < chain.size; ++k) values_[s++] = chain[k];
  }
  if (s != run_.table.states()) {
    throw DataError(fmt::format("a scalar has {} values for {} states", s, run_.table.states()));
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

void ScalarFit::judge_tails() {
  shape_ = std::max(0.0, run_.shape((values_.array() - centre_).matrix()));
  result_.mean_has_error = !(shape_ > surely_heavy);
  result_.sd_has_error = !(2 * shape_ > surely_heavy);
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
  const Index block = power_fields + to_index(thresholds_.size());
  const double shape = run_.training_shape(fold, (values_.array() - centre_).matrix());
  layout.power_law = shape > power_law_tail || run_.shape_z[fold].mean() > typical_power_law;
  // Moments have tails of their own, which growing fields may well cancel: the choice by the
  // error that is left decides. Indicators are bounded.
  const auto may_grow = [&](std::size_t group, const Shape& tail) {
    if (group == of_quantiles) return !layout.power_law && tail.direct <= lightest_tail;
    return tail.least() <= heaviest_growing;
  };
  Columns powers;
  for (Index column = 0; column < layout.own; ++column) {
    const Shape& tail = own.shapes[static_cast<std::size_t>(column)];
    const Index place = column % block;
    for (std::size_t g = 0; g < groups; ++g) {
      if (place == 0 || place >= power_fields) {
        if (tail.least() > heaviest_tail) continue;
        (place == 0 ? layout.constant : layout.bounded)[g].push_back(column);
      } else if (may_grow(g, tail)) {
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

void ScalarFit::fit_all(const std::vector<OwnFeatures>& own,
                        const std::vector<CoordinateStates>& states) {
  const Index rows = targets_.rows();
  const Index room = run_.training_draws() / draws_per_feature;
  left_[index(FeatureSet::none)] = targets_;
  if (differences_.cols() > 0) {
    left_[index(FeatureSet::none)].leftCols(moment_targets) += differences_;
  }
  slopes_.assign(run_.folds.size(), {});
  for (std::size_t f = 0; f < run_.folds.size(); ++f) {
    const Layout layout = lay_out(own[f], f);
    const Fold& fold = run_.folds[f];
    const SharedColumns& shared = run_.shared[f];
    const bool shares = shared.size() > 0;
    Eigen::MatrixXd columns(rows, layout.own + differences_.cols() + targets_.cols());
    columns << own[f].columns, differences_, fold_targets(f);
    move_thresholds(f, columns, states);
    const CrossFit regression(columns, targets_.cols(), fold, shared, shares);

    std::vector<Planned> plans;
    const auto use = [&](FeatureSet set, const Columns& features, bool with_shared) {
      const Index count = largest(features) + (with_shared ? shared.size() : 0);
      if (count > 0 && count <= room) plans.push_back({set, features, with_shared});
    };
    use(FeatureSet::bounded, joined(layout.constant, layout.bounded), false);
    use(FeatureSet::own, joined(layout.constant, layout.growing), false);
    if (!shares) {
      keep(plans, f, regression, layout);
      continue;
    }
    // The gradients themselves are shared already.
    const Columns firsts = run_.linear[f].empty() ? layout.constant : Columns();
    // Costs much in high dimension, and is of use for heavy tails alone.
    if (run_.table.dimension() <= small_dimension || layout.power_law) {
      use(FeatureSet::bounded_linear, joined(firsts, layout.bounded), true);
    }
    const Columns all = joined(firsts, layout.growing);
    use(FeatureSet::linear, all, true);
    keep(plans, f, regression, layout);
    if (largest(all) + shared.size() > room) continue;
    if (!states.empty() && run_.table.dimension() <= row_dimension) {
      fit_more(FeatureSet::row, f, rows_of(f, states[f], regression, all), columns, all, layout);
    }
    if (!run_.quadratic.empty() && largest(all) + run_.quadratic[f].size() <= room) {
      const CrossFit quadratic(columns, targets_.cols(), fold, run_.quadratic[f], true);
      keep({{FeatureSet::quadratic, all, true}}, f, quadratic, layout);
      if (layout.power_law) {
        left_[index(FeatureSet::quadratic)]
            .rightCols(to_index(thresholds_.size()))
            .setConstant(nan_value);
      }
    }
  }
}

Eigen::MatrixXd ScalarFit::fold_targets(std::size_t f) const {
  Eigen::MatrixXd targets = targets_;
  if (!coordinate_) return targets;
  for (std::size_t t = 0; t < thresholds_.size(); ++t) {
    targets.col(moment_targets + to_index(t)) = below(fold_thresholds_[f][t]);
  }
  return targets;
}

void ScalarFit::move_thresholds(std::size_t f, const Eigen::MatrixXd& columns,
                                const std::vector<CoordinateStates>& states) {
  indicator_moves_.setZero(targets_.rows(), to_index(thresholds_.size()));
  feature_moves_ = indicator_moves_;
  if (states.empty()) return;
  const Fold& fold = run_.folds[f];
  const Index count = fold.end - fold.begin;
  for (std::size_t t = 0; t < thresholds_.size(); ++t) {
    const Index column = to_index(t);
    const ThresholdSeries at(run_.table, run_.frames[f], *coordinate_, states[f], thresholds_[t],
                             fold.begin, fold.end);
    const Index target = columns.cols() - targets_.cols() + moment_targets + column;
    indicator_moves_.col(column).segment(fold.begin, count) =
        at.indicator - columns.col(target).segment(fold.begin, count);
    feature_moves_.col(column).segment(fold.begin, count) =
        at.feature - columns.col(power_fields + column).segment(fold.begin, count);
  }
}

void ScalarFit::fit_more(FeatureSet set, std::size_t f, const Eigen::MatrixXd& more,
                         const Eigen::MatrixXd& columns, const Columns& others,
                         const Layout& layout) {
  const Index room = run_.training_draws() / draws_per_feature;
  if (largest(others) + run_.shared[f].size() + more.cols() > room) return;
  Eigen::MatrixXd wider(columns.rows(), columns.cols() + more.cols());
  const Index before = columns.cols() - targets_.cols();
  wider << columns.leftCols(before), more, columns.rightCols(targets_.cols());
  std::vector<Index> added(static_cast<std::size_t>(more.cols()));
  std::iota(added.begin(), added.end(), before);
  const CrossFit regression(std::move(wider), targets_.cols(), run_.folds[f], run_.shared[f], true);
  const Columns wanted{added, added, layout.power_law ? std::vector<Index>() : added};
  keep({{set, joined(others, wanted), true}}, f, regression, layout);
}

Eigen::MatrixXd ScalarFit::rows_of(std::size_t f, const CoordinateStates& states,
                                   const CrossFit& regression, const Columns& features) const {
  Eigen::MatrixXd rows =
      run_.row_features(f, *coordinate_, states)(Eigen::all, run_.light_rows(f, *coordinate_));
  if (static_cast<std::size_t>(rows.cols()) <= most_rows) return rows;
  const Fold& fold = run_.folds[f];
  std::vector<CrossFit::Fit> fits{regression.fit(features[of_sd], true, {0, targets_.cols()})};
  Eigen::MatrixXd left = std::move(regression.residuals(fits).front());
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

void ScalarFit::keep(const std::vector<Planned>& plans, std::size_t f, const CrossFit& regression,
                     const Layout& layout) {
  const Index quantiles = to_index(thresholds_.size());
  std::vector<CrossFit::Fit> fits;
  std::vector<FeatureSet> sets;
  for (const Planned& plan : plans) {
    const auto fit = [&](const std::vector<Index>& columns, const CrossFit::Targets& targets) {
      fits.push_back(regression.fit(columns, plan.with_shared, targets));
      sets.push_back(plan.set);
    };
    if (plan.features[of_mean] == plan.features[of_sd]) {
      fit(plan.features[of_mean], {0, moment_targets});
    } else {
      fit(plan.features[of_mean], {0, 1});
      fit(plan.features[of_sd], {1, 1});
    }
    fit(plan.features[of_quantiles], {moment_targets, quantiles});
  }
  const std::vector<Eigen::MatrixXd> residuals = regression.residuals(fits);
  const Fold& fold = run_.folds[f];
  const Index count = fold.end - fold.begin;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const CrossFit::Targets& targets = fits[k].targets;
    Eigen::MatrixXd& left = left_[index(sets[k])];
    if (left.size() == 0) left.setConstant(targets_.rows(), targets_.cols(), nan_value);
    left.block(fold.begin, targets.first, count, targets.count) =
        residuals[k].middleRows(fold.begin, count);
    count_dependence(sets[k], fold, fits[k], residuals[k]);
    if (targets.first == moment_targets) keep_slopes(sets[k], f, fits[k], layout);
  }
}

void ScalarFit::keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit,
                            const Layout& layout) {
  Eigen::VectorXd slopes = Eigen::VectorXd::Zero(to_index(thresholds_.size()));
  if (coordinate_) {
    for (std::size_t a = 0; a < fit.features.size(); ++a) {
      const Index t = fit.features[a] - power_fields;
      if (fit.features[a] < layout.own && t >= 0) slopes[t] = fit.own(to_index(a), t);
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
  if (effect.size() == 0) effect.setZero(targets_.rows(), targets_.cols());
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
