// Regresses one scalar on its own features, on shared ones, on rows and on quadratic ones.
#include "scalar_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "rehmc/core/numerics.hpp"
#include "tails.hpp"

namespace rehmc::stein {

namespace {

/// A growing feature must look lighter than this to be used for a bounded function.
constexpr double lightest_tail = 0.3;
/// A coordinate with a heavier tail than this follows a power law, as far as one can tell; then
/// only bounded fields go well with bounded functions such as indicators.
constexpr double power_law_tail = 0.12;
/// The same for the average over the coordinates of a run, which is known better.
constexpr double typical_power_law = 0.07;
/// A growing feature with a heavier tail barely has a mean.
constexpr double heaviest_growing = 1.0;
/// But a feature that is heavier than its target by no more than this may be what cancels it.
constexpr double as_heavy = 0.25;
/// The highest power of z in fields used for indicators; see Run::powers().
constexpr Eigen::Index highest_for_indicators = 1;
/// The noise of coefficients is a sum over pairs of draws, one that fits and one that is served.
/// What is left of the one served contains its pairs already; if those of the one that fits counted
/// in full as well, the variance of that sum would count twice, as that of second-order terms does
/// in the jackknife (Efron & Stein 1981). With a half it is right but for a quarter, on the safe
/// side.
constexpr double pair_share = 0.5;
/// Up to this dimension rows are tried; the best of them are used.
constexpr Eigen::Index row_dimension = 100;
constexpr std::size_t most_rows = 24;

/// The coefficient by which a feature reduces the long-run variance of a target, from the draws
/// outside a fold. Within a draw, the difference between its plain state and the mean of its states
/// does not correlate with that mean: only what consecutive draws have in common can be explained,
/// which sums over stretches contain and single draws do not.
double long_run_slope(const Eigen::Ref<const Eigen::VectorXd>& target,
                      const Eigen::Ref<const Eigen::VectorXd>& feature, const Fold& fold,
                      Index draws_per_chain) {
  constexpr Index stretches_per_chain = 50;
  const Index length = std::max<Index>(1, draws_per_chain / stretches_per_chain);
  const double outside = static_cast<double>(target.size() - fold.count());
  const double mean = (target.sum() - fold.of(target).sum()) / outside;
  double product = 0;
  double square = 0;
  for (Index chain = 0; chain < target.size(); chain += draws_per_chain) {
    for (Index begin = chain; begin + length <= chain + draws_per_chain; begin += length) {
      if (begin < fold.end && begin + length > fold.begin) continue;
      const double of_target =
          target.segment(begin, length).sum() - mean * static_cast<double>(length);
      const double of_feature = feature.segment(begin, length).sum();
      product += of_target * of_feature;
      square += of_feature * of_feature;
    }
  }
  return square > 0 || std::isnan(square) ? product / square : 0.0;
}

}  // namespace

bool Remainders::fitted(FeatureSet set, Index target) const {
  const Eigen::MatrixXd& of_set = left[index(set)];
  return of_set.size() > 0 && of_set.col(target).allFinite();
}

Eigen::VectorXd Remainders::effect_of(FeatureSet set, Index target) const {
  const Eigen::MatrixXd& effect = effects[index(set)];
  if (effect.size() == 0) return Eigen::VectorXd::Zero(left[index(FeatureSet::none)].rows());
  return effect.col(target);
}

ScalarFit::ScalarFit(Run& run, const ScalarStates& scalar) : run_(run), target_(run, scalar) {
  const Eigen::MatrixXd& targets = target_.targets();
  Eigen::MatrixXd& unexplained = remainders_.left[Remainders::index(FeatureSet::none)];
  unexplained = targets;
  if (target_.differences().cols() > 0) {
    TargetColumns::moments.of(unexplained) += target_.differences();
  }
  remainders_.threshold_features.setZero(targets.rows(), target_.columns().thresholds);
  remainders_.slopes.resize(run.folds.size());
  fit_plain();
}

void ScalarFit::fit_plain() {
  const Eigen::MatrixXd& differences = target_.plain_differences();
  if (differences.cols() == 0) return;
  const Eigen::MatrixXd& unexplained = remainders_.left[Remainders::index(FeatureSet::none)];
  Eigen::MatrixXd& left = remainders_.left[Remainders::index(FeatureSet::plain)];
  left = unexplained;
  const auto length = to_index(run_.table.draws_per_chain);
  for (std::size_t f = 0; f < run_.folds.size(); ++f) {
    const Fold& fold = run_.folds[f];
    for (Index t = 0; t < left.cols(); ++t) {
      const double slope = long_run_slope(unexplained.col(t), differences.col(t), fold, length);
      fold.of(left.col(t)) -= slope * fold.of(differences.col(t));
    }
    remainders_.slopes[f][Remainders::index(FeatureSet::plain)] =
        Eigen::VectorXd::Zero(target_.columns().thresholds);
  }
}

Index ScalarFit::largest(const Features& features) {
  std::size_t most = 0;
  for (const auto& of_group : features) most = std::max(most, of_group.size());
  return to_index(most);
}

ScalarFit::Features ScalarFit::joined(const Features& a, const Features& b) {
  Features both = a;
  for (std::size_t g = 0; g < group_count; ++g) {
    both[g].insert(both[g].end(), b[g].begin(), b[g].end());
  }
  return both;
}

ScalarFit::FoldFeatures ScalarFit::select_features(const OwnFeatures& own, std::size_t fold) const {
  FoldFeatures features;
  features.columns = columns_for(own);
  const double shape =
      run_.training_shape(fold, (target_.values().array() - target_.centre()).matrix());
  features.power_law = shape > power_law_tail || run_.shape_z[fold].mean() > typical_power_law;
  // Moments have tails of their own, which growing fields may cancel: the choice by the error that
  // is left decides. Indicators are bounded.
  const auto may_grow = [&](std::size_t group, Index power, const Shape& tail) {
    if (group == of_quantiles) {
      return power <= highest_for_indicators && !features.power_law && tail.direct <= lightest_tail;
    }
    const double of_target = (group == of_sd ? 2 : 1) * shape;
    return tail.least() <= std::max(heaviest_growing, of_target + as_heavy);
  };
  const auto tail_of = [&](Index column) { return own.shapes[static_cast<std::size_t>(column)]; };
  const auto add_if_light = [&](Index column, Features& to) {
    if (tail_of(column).least() > heaviest_tail) return;
    for (auto& of_group : to) of_group.push_back(column);
  };
  Features powers;
  for (Index i = 0; i < own.layout.coordinates; ++i) {
    const ColumnRange of_powers = own.layout.of_powers(i);
    add_if_light(of_powers[constant_field], features.constant);
    for (Index field = constant_field + 1; field < of_powers.count; ++field) {
      for (std::size_t g = 0; g < group_count; ++g) {
        if (may_grow(g, power_of(field), tail_of(of_powers[field]))) {
          powers[g].push_back(of_powers[field]);
        }
      }
    }
    for (const Index column : own.layout.of_thresholds(i).list()) {
      add_if_light(column, features.bounded);
    }
  }
  for (const Index column : features.columns.differences().list()) {
    if (shape <= heaviest_tail) features.bounded[of_mean].push_back(column);
    if (2 * shape <= heaviest_tail) features.bounded[of_sd].push_back(column);
  }
  features.growing = joined(features.bounded, powers);
  return features;
}

ScalarColumns ScalarFit::columns_of_coordinate(const Run& run, std::size_t fold) {
  const auto thresholds = to_index(standard_probabilities.size());
  return {{run.powers(fold), thresholds}, TargetColumns::moments.count, 0, {thresholds}};
}

ScalarColumns ScalarFit::columns_for(const OwnFeatures& own) const {
  return {own.layout, target_.differences().cols(), 0, target_.columns()};
}

void ScalarFit::put_columns(const OwnFeatures& own, Eigen::Ref<Eigen::MatrixXd> columns) const {
  columns << own.columns, target_.differences(), target_.targets();
  if (target_.coordinate()) columns_for(own).indicators().of(columns) = own.indicators;
}

void ScalarFit::fit(std::size_t f, const OwnFeatures& own, const CrossFit::Columns& columns,
                    const CrossFit::Columns& remainders, const CoordinateStates* states) {
  const FoldFeatures features = select_features(own, f);
  move_thresholds(f, features.columns, columns, states);
  const CrossFit alone(columns, features.columns.targets(), run_.folds[f]);
  fit_by(FeatureSet::bounded, joined(features.constant, features.bounded), f, alone, 0, own.layout);
  fit_by(FeatureSet::own, joined(features.constant, features.growing), f, alone, 0, own.layout);
  const SharedColumns& shared = run_.shared[f];
  if (shared.size() == 0) return;

  // The gradients themselves may be shared already.
  const Features firsts = run_.groups[f].linear.count == 0 ? features.constant : Features();
  const CrossFit together(remainders, features.columns.targets(), run_.folds[f], alone.scales(),
                          shared);
  // Only useful for heavy tails, and not quite free.
  if (run_.table.dimension() <= small_dimension || features.power_law) {
    fit_by(FeatureSet::bounded_linear, joined(firsts, features.bounded), f, together, shared.size(),
           own.layout);
  }
  const Features all = joined(firsts, features.growing);
  fit_by(FeatureSet::linear, all, f, together, shared.size(), own.layout);
  // Quadratic features contain the rows.
  const bool rows_too =
      run_.quadratic.empty() || !affordable(largest(all) + run_.quadratic[f].size());
  if (states && run_.table.dimension() <= row_dimension && rows_too) {
    fit_rows(f, *states, alone, together, all, features);
  }
  if (run_.quadratic.empty()) return;
  const SharedColumns& quadratic = run_.quadratic[f];
  const Eigen::MatrixXd less = quadratic.remainders(columns);
  const CrossFit with_all(less, features.columns.targets(), run_.folds[f], alone.scales(),
                          quadratic);
  fit_by(FeatureSet::quadratic, all, f, with_all, quadratic.size(), own.layout);
  Eigen::MatrixXd& left = remainders_.left[Remainders::index(FeatureSet::quadratic)];
  if (features.power_law && left.size() > 0) {
    target_.columns().indicators().of(left).setConstant(nan_value);
  }
}

void ScalarFit::move_thresholds(std::size_t f, const ScalarColumns& layout,
                                const CrossFit::Columns& columns, const CoordinateStates* states) {
  const TargetColumns target = target_.columns();
  indicator_moves_.setZero(target_.targets().rows(), target.thresholds);
  feature_moves_ = indicator_moves_;
  if (!states) return;
  const Fold& fold = run_.folds[f];
  for (Index t = 0; t < target.thresholds; ++t) {
    auto features = fold.of(remainders_.threshold_features.col(t));
    features = Threshold(run_.table, run_.frames[f], *target_.coordinate(), *states,
                         target_.thresholds()[static_cast<std::size_t>(t)])
                   .means({0, 1}, fold.begin, fold.end);
    fold.of(indicator_moves_.col(t)) = fold.of(target_.targets().col(target.indicators()[t])) -
                                       fold.of(columns.col(layout.indicators()[t]));
    fold.of(feature_moves_.col(t)) =
        features - fold.of(columns.col(layout.own.of_thresholds(0)[t]));
  }
}

void ScalarFit::fit_rows(std::size_t f, const CoordinateStates& states, const CrossFit& alone,
                         const CrossFit& together, const Features& others,
                         const FoldFeatures& features) {
  if (largest(others) == 0) return;
  const Eigen::MatrixXd rows = rows_of(f, states, together, others);
  const ScalarColumns layout = features.columns.with_rows(rows.cols());
  const auto widened = [&](const CrossFit::Columns& columns, const Eigen::MatrixXd& more) {
    Eigen::MatrixXd wider(columns.rows(), layout.count());
    wider << features.columns.features().of(columns), more, features.columns.targets().of(columns);
    return wider;
  };
  const SharedColumns& shared = run_.shared[f];
  const Eigen::MatrixXd columns = widened(alone.columns(), rows);
  const Eigen::MatrixXd remainders = widened(together.columns(), shared.remainders(rows));
  const Eigen::VectorXd scales = CrossFit::scales_of(columns, run_.folds[f]);
  const CrossFit wider(remainders, layout.targets(), run_.folds[f], scales, shared);
  const std::vector<Index> added = layout.rows().list();
  const Features wanted{added, added, features.power_law ? std::vector<Index>() : added};
  fit_by(FeatureSet::row, joined(others, wanted), f, wider, shared.size(), layout.own);
}

Eigen::MatrixXd ScalarFit::rows_of(std::size_t f, const CoordinateStates& states,
                                   const CrossFit& regression, const Features& features) const {
  const Index i = *target_.coordinate();
  Eigen::MatrixXd rows = run_.row_features(f, i, states.u);
  if (static_cast<std::size_t>(rows.cols()) <= most_rows) return rows;
  const Fold& fold = run_.folds[f];
  Eigen::MatrixXd left =
      regression.residuals({regression.fit(features[of_sd], {0, target_.columns().count()})});
  left.middleRows(fold.begin, fold.count()).setZero();
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

bool ScalarFit::affordable(Index features) const {
  return features <= run_.training_draws() / draws_per_feature;
}

void ScalarFit::fit_by(FeatureSet set, const Features& features, std::size_t f,
                       const CrossFit& regression, Index shared, const OwnColumns& own) {
  const Index count = largest(features) + shared;
  if (count == 0 || !affordable(count)) return;
  std::vector<CrossFit::Fit> fits;
  if (features[of_mean] == features[of_sd]) {
    fits.push_back(regression.fit(features[of_mean], TargetColumns::moments));
  } else {
    fits.push_back(regression.fit(features[of_mean], {TargetColumns::mean, 1}));
    fits.push_back(regression.fit(features[of_sd], {TargetColumns::square, 1}));
  }
  fits.push_back(regression.fit(features[of_quantiles], target_.columns().indicators()));
  keep(set, f, regression, fits);
  keep_slopes(set, f, fits.back(), own);
}

void ScalarFit::keep(FeatureSet set, std::size_t f, const CrossFit& regression,
                     const std::vector<CrossFit::Fit>& fits) {
  const Fold& fold = run_.folds[f];
  const Eigen::MatrixXd residuals = regression.residuals(fits);
  Eigen::MatrixXd& left = remainders_.left[Remainders::index(set)];
  if (left.size() == 0) {
    left = run_.spare();
    left.setConstant(target_.targets().rows(), target_.targets().cols(), nan_value);
  }
  left.middleRows(fold.begin, fold.count()) = residuals.middleRows(fold.begin, fold.count());
  for (const CrossFit::Fit& fit : fits) {
    count_dependence(set, fold, fit, fit.targets.of(residuals));
  }
}

void ScalarFit::keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit,
                            const OwnColumns& own) {
  const TargetColumns target = target_.columns();
  Eigen::VectorXd& slopes = remainders_.slopes[f][Remainders::index(set)];
  slopes = Eigen::VectorXd::Zero(target.thresholds);
  if (!target_.coordinate()) return;
  const Fold& fold = run_.folds[f];
  for (Index t = 0; t < target.thresholds; ++t) {
    const auto found = std::find(fit.features.begin(), fit.features.end(), own.of_thresholds(0)[t]);
    if (found != fit.features.end()) {
      slopes[t] = fit.coefficients(found - fit.features.begin(), t);
    }
    fold.of(remainders_.left[Remainders::index(set)].col(target.indicators()[t])) +=
        fold.of(indicator_moves_.col(t)) - slopes[t] * fold.of(feature_moves_.col(t));
  }
}

void ScalarFit::count_dependence(FeatureSet set, const Fold& fold, const CrossFit::Fit& fit,
                                 const Eigen::Ref<const Eigen::MatrixXd>& residuals) {
  const Index draws = target_.targets().rows();
  Eigen::MatrixXd& effect = remainders_.effects[Remainders::index(set)];
  if (effect.size() == 0) {
    effect = run_.spare();
    effect.setZero(draws, target_.targets().cols());
  }
  const auto inside = static_cast<double>(fold.count());
  const double outside = static_cast<double>(draws) - inside;
  const Eigen::RowVectorXd mean = TrainingMoments::mean(residuals, fold);
  const double factor = pair_share * inside / outside;
  const auto add = [&](Index first, Index count) {
    effect.block(first, fit.targets.first, count, fit.targets.count).array() -=
        (residuals.middleRows(first, count).rowwise() - mean).array().colwise() *
        (fit.dependence.segment(first, count).array() * factor);
  };
  add(0, fold.begin);
  add(fold.end, draws - fold.end);
}

}  // namespace rehmc::stein
