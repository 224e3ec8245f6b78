// Private to estimate/: one scalar: what is to be explained, by which features, and what is left.
#pragma once

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "own_features.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/estimate/quantiles.hpp"

namespace rehmc::stein {

inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
inline constexpr auto set_count = static_cast<std::size_t>(FeatureSet::quadratic) + 1;
/// A growing feature must look lighter than this to go with a bounded function.
inline constexpr double lightest_tail = 0.3;
/// A coordinate with a heavier tail than this has a power law, as far as one can tell; then only
/// bounded fields go well with bounded functions, such as indicators.
inline constexpr double power_law_tail = 0.12;
/// So has a run whose coordinates have heavier tails than this on average, which is known better.
inline constexpr double typical_power_law = 0.07;
/// A growing feature with a heavier tail has hardly a mean.
inline constexpr double heaviest_growing = 1.0;
/// Moments whose tail is heavier than this get a warning. Shapes are underrated where chains take
/// long to come from the tails, so it must be less than the 0.5 of theory.
inline constexpr double surely_heavy = 0.4;
/// Up to this dimension rows are looked at; the best of them take part.
inline constexpr Eigen::Index row_dimension = 100;
inline constexpr std::size_t most_rows = 24;
/// A larger set must be better by this factor of the variance: the choice is noisy.
inline constexpr double worthwhile = 0.9;
/// What the precision of stored gradients may do to an estimate, in sds.
inline constexpr double single_precision = 1e-5;

/// One scalar: targets, features, choice.
class ScalarFit {
 public:
  ScalarFit(Run& run, const ScalarStates& scalar) : run_(run), scalar_(scalar) {
    result_.estimate = scalar.known;
    result_.quantile_sets.assign(scalar.known.quantiles.size(), FeatureSet::none);
    gather_values();
  }

  /// Whether its quantiles are those of a coordinate, carried over.
  bool follows_coordinate() const { return scalar_.coordinate.has_value(); }
  /// Where the fields of a fold's thresholds lie.
  const std::vector<double>& thresholds(std::size_t fold) const { return fold_thresholds_[fold]; }

  /// `states`: the own coordinate in every fold; none for a function of many.
  SharpenedEstimate estimate(const OwnFeatures& own, const std::vector<CoordinateStates>& states) {
    make_targets();
    judge_tails();
    fit_all(own, states);
    choose(states);
    return std::move(result_);
  }

  const Eigen::VectorXd& values() const { return values_; }

 private:
  static constexpr Index moment_targets = 2;

  void gather_values() {
    values_.resize(run_.table.states());
    Index s = 0;
    for (const Series& chain : scalar_.values) {
      for (std::size_t k = 0; k < chain.size; ++k) values_[s++] = chain[k];
    }
    if (s != run_.table.states()) {
      throw DataError(fmt::format("a scalar has {} values for {} states", s, run_.table.states()));
    }
    measured_ =
        follows_coordinate() ? run_.table.positions.col(to_index(*scalar_.coordinate)) : values_;
    identical_ = measured_ == values_;
    measured_sd_ = std::sqrt((measured_.array() - measured_.mean()).square().mean());
    if (follows_coordinate() && !identical_) {
      order_.resize(static_cast<std::size_t>(values_.size()));
      std::iota(order_.begin(), order_.end(), Index{0});
      std::sort(order_.begin(), order_.end(),
                [&](Index a, Index b) { return measured_[a] < measured_[b]; });
      falling_ = values_[order_.front()] > values_[order_.back()];
    }
    for (const QuantileEstimate& quantile : scalar_.known.quantiles) {
      thresholds_.push_back(identical_ ? quantile.value : measured_quantile(quantile.probability));
    }
    for (const Fold& fold : run_.folds) {
      fold_thresholds_.push_back(follows_coordinate() ? training_quantiles(fold) : thresholds_);
    }
  }

  double measured_probability(double probability) const {
    return falling_ ? 1 - probability : probability;
  }

  /// Roughly the quantiles of the draws outside a fold. Thresholds that depended on a draw would
  /// not leave its features the mean 0: by as little as Bahadur's remainder, which is a lot here.
  std::vector<double> training_quantiles(const Fold& fold) const {
    constexpr std::size_t enough = 4000;
    std::vector<double> values;
    std::vector<double> weights;
    for (const Index s : run_.training_states(fold, enough)) {
      values.push_back(measured_[s]);
      weights.push_back(run_.table.weights[s]);
    }
    const EmpiricalDistribution distribution(std::move(values), weights);
    std::vector<double> quantiles;
    for (const QuantileEstimate& quantile : scalar_.known.quantiles) {
      quantiles.push_back(distribution.quantile(measured_probability(quantile.probability)));
    }
    return quantiles;
  }

  double measured_quantile(double probability) const {
    const EmpiricalDistribution distribution(
        std::vector<double>(measured_.begin(), measured_.end()),
        {run_.table.weights.data(), static_cast<std::size_t>(run_.table.weights.size())});
    return distribution.quantile(measured_probability(probability));
  }

  void make_targets() {
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

  Eigen::VectorXd below(double threshold) const {
    return run_.table.draw_means([&](Index s) { return measured_[s] <= threshold ? 1.0 : 0.0; });
  }

  void judge_tails() {
    shape_ = std::max(0.0, run_.shape((values_.array() - centre_).matrix()));
    result_.mean_has_error = !(shape_ > surely_heavy);
    result_.sd_has_error = !(2 * shape_ > surely_heavy);
  }

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

  static Index largest(const Columns& columns) {
    std::size_t most = 0;
    for (const auto& of_group : columns) most = std::max(most, of_group.size());
    return to_index(most);
  }

  static Columns joined(const Columns& a, const Columns& b) {
    Columns both = a;
    for (std::size_t g = 0; g < groups; ++g)
      both[g].insert(both[g].end(), b[g].begin(), b[g].end());
    return both;
  }

  Layout lay_out(const OwnFeatures& own, std::size_t fold) const {
    Layout layout;
    layout.own = own.of_folds[fold].cols();
    const Index block = power_fields + to_index(thresholds_.size());
    const double shape = run_.training_shape(fold, (values_.array() - centre_).matrix());
    layout.power_law = shape > power_law_tail || run_.shape_z[fold].mean() > typical_power_law;
    // Moments have tails of their own, which growing fields may well cancel: the choice by the
    // error that is left decides. Indicators are bounded.
    const std::array<double, groups> limits{heaviest_growing, heaviest_growing,
                                            layout.power_law ? -1.0 : lightest_tail};
    Columns powers;
    for (Index column = 0; column < layout.own; ++column) {
      const Shape& tail = own.shapes[fold][static_cast<std::size_t>(column)];
      const Index place = column % block;
      for (std::size_t g = 0; g < groups; ++g) {
        if (place == 0 || place >= power_fields) {
          if (tail.least() > heaviest_tail) continue;
          (place == 0 ? layout.constant : layout.bounded)[g].push_back(column);
        } else if ((g == of_quantiles ? tail.direct : tail.least()) <= limits[g]) {
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

  void fit_all(const OwnFeatures& own, const std::vector<CoordinateStates>& states) {
    const Index rows = targets_.rows();
    const Index room = run_.training_draws() / draws_per_feature;
    left_[index(FeatureSet::none)] = targets_;
    if (differences_.cols() > 0) {
      left_[index(FeatureSet::none)].leftCols(moment_targets) += differences_;
    }
    slopes_.assign(run_.folds.size(), {});
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      const Layout layout = lay_out(own, f);
      const Fold& fold = run_.folds[f];
      const SharedColumns& shared = run_.shared[f];
      const bool shares = shared.size() > 0;
      Eigen::MatrixXd columns(rows, layout.own + differences_.cols() + targets_.cols());
      columns << own.of_folds[f], differences_, fold_targets(f);
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

  Eigen::MatrixXd fold_targets(std::size_t f) const {
    Eigen::MatrixXd targets = targets_;
    if (!follows_coordinate()) return targets;
    for (std::size_t t = 0; t < thresholds_.size(); ++t) {
      targets.col(moment_targets + to_index(t)) = below(fold_thresholds_[f][t]);
    }
    return targets;
  }

  /// What the indicator and the own feature of every threshold change by, in the draws of a fold,
  /// if the threshold moves from where the fold has it to where all have it.
  void move_thresholds(std::size_t f, const Eigen::MatrixXd& columns,
                       const std::vector<CoordinateStates>& states) {
    indicator_moves_.setZero(targets_.rows(), to_index(thresholds_.size()));
    feature_moves_ = indicator_moves_;
    if (states.empty()) return;
    const Fold& fold = run_.folds[f];
    const Index count = fold.end - fold.begin;
    for (std::size_t t = 0; t < thresholds_.size(); ++t) {
      const Index column = to_index(t);
      const ThresholdSeries at(*this, f, states[f], thresholds_[t]);
      const Index target = columns.cols() - targets_.cols() + moment_targets + column;
      indicator_moves_.col(column).segment(fold.begin, count) =
          at.indicator - columns.col(target).segment(fold.begin, count);
      feature_moves_.col(column).segment(fold.begin, count) =
          at.feature - columns.col(power_fields + column).segment(fold.begin, count);
    }
  }

  /// The indicator of a threshold and its own feature, in the draws of a fold.
  struct ThresholdSeries {
    Eigen::VectorXd indicator;
    Eigen::VectorXd feature;

    ThresholdSeries(const ScalarFit& fit, std::size_t f, const CoordinateStates& own, double x)
        : indicator(fit.run_.folds[f].end - fit.run_.folds[f].begin), feature(indicator.size()) {
      const Run& run = fit.run_;
      const Fold& fold = run.folds[f];
      const auto i = to_index(*fit.scalar_.coordinate);
      const double threshold = (x - run.frames[f].centre[i]) / run.frames[f].scale[i];
      const bool usable = std::abs(threshold) < ThresholdField::largest;
      const ThresholdField field(threshold);
      for (Index n = fold.begin; n < fold.end; ++n) {
        double below_sum = 0;
        double feature_sum = 0;
        for (std::size_t k = run.table.begins[static_cast<std::size_t>(n)];
             k < run.table.begins[static_cast<std::size_t>(n) + 1]; ++k) {
          const Index s = to_index(k);
          const bool below = fit.measured_[s] <= x;
          const double weight = run.table.weights[s];
          below_sum += below ? weight : 0.0;
          feature_sum += weight * field.feature(below, own.z[s], own.u[s], own.mills_below[s],
                                                own.mills_above[s]);
        }
        indicator[n - fold.begin] = below_sum;
        feature[n - fold.begin] = usable ? feature_sum : 0.0;
      }
    }
  };

  /// Further columns beside all others.
  void fit_more(FeatureSet set, std::size_t f, const Eigen::MatrixXd& more,
                const Eigen::MatrixXd& columns, const Columns& others, const Layout& layout) {
    const Index room = run_.training_draws() / draws_per_feature;
    if (largest(others) + run_.shared[f].size() + more.cols() > room) return;
    Eigen::MatrixXd wider(columns.rows(), columns.cols() + more.cols());
    const Index before = columns.cols() - targets_.cols();
    wider << columns.leftCols(before), more, columns.rightCols(targets_.cols());
    std::vector<Index> added(static_cast<std::size_t>(more.cols()));
    std::iota(added.begin(), added.end(), before);
    const CrossFit regression(std::move(wider), targets_.cols(), run_.folds[f], run_.shared[f],
                              true);
    const Columns wanted{added, added, layout.power_law ? std::vector<Index>() : added};
    keep({{set, joined(others, wanted), true}}, f, regression, layout);
  }

  /// The features of fields that grow with other coordinates: those that go best with what is left
  /// in the draws that fits are made on.
  Eigen::MatrixXd rows_of(std::size_t f, const CoordinateStates& states, const CrossFit& regression,
                          const Columns& features) const {
    const auto i = to_index(*scalar_.coordinate);
    Eigen::MatrixXd rows = run_.row_features(f, i, states)(Eigen::all, run_.light_rows(f, i));
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

  /// A set of features to fit by.
  struct Planned {
    FeatureSet set;
    Columns features;
    bool with_shared;
  };

  /// Fits a fold by several sets and keeps what is left of its draws.
  void keep(const std::vector<Planned>& plans, std::size_t f, const CrossFit& regression,
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

  /// The coefficient of each quantile's own threshold, which is then moved to where all have it.
  void keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit, const Layout& layout) {
    Eigen::VectorXd slopes = Eigen::VectorXd::Zero(to_index(thresholds_.size()));
    if (follows_coordinate()) {
      for (std::size_t a = 0; a < fit.features.size(); ++a) {
        const Index t = fit.features[a] - power_fields;
        if (fit.features[a] < layout.own && t >= 0) slopes[t] = fit.own(to_index(a), t);
      }
    }
    slopes_[f][index(set)] = slopes;
    if (!follows_coordinate()) return;
    const Fold& fold = run_.folds[f];
    const Index count = fold.end - fold.begin;
    for (Index t = 0; t < slopes.size(); ++t) {
      left_[index(set)].col(moment_targets + t).segment(fold.begin, count) +=
          indicator_moves_.col(t).segment(fold.begin, count) -
          slopes[t] * feature_moves_.col(t).segment(fold.begin, count);
    }
  }

  /// The draws of a fold depend on all others through the coefficients. Their first-order effect
  /// belongs to the error: without it, error bars of folds that share an outlier are too small.
  void count_dependence(FeatureSet set, const Fold& fold, const CrossFit::Fit& fit,
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

  /// The squared error of a target that a set leaves.
  double squared_error(std::size_t set, Index target) {
    if (effects_[set].size() == 0) return run_.errors.squared_error(left_[set].col(target));
    return run_.errors.squared_error(left_[set].col(target) + effects_[set].col(target));
  }

  static std::size_t index(FeatureSet set) { return static_cast<std::size_t>(set); }

  /// The set that leaves the least long-run variance of a target.
  FeatureSet best_set(Index target, double& squared_error) {
    FeatureSet best = FeatureSet::none;
    squared_error = this->squared_error(index(best), target);
    for (std::size_t s = 1; s < set_count; ++s) {
      if (left_[s].size() == 0 || !left_[s].col(target).allFinite()) continue;
      const double error = this->squared_error(s, target);
      if (error < worthwhile * squared_error || !(squared_error >= 0)) {
        squared_error = error;
        best = static_cast<FeatureSet>(s);
      }
    }
    return best;
  }

  void choose(const std::vector<CoordinateStates>& states) {
    Estimate& estimate = result_.estimate;
    double squared_error = 0;
    result_.mean_set = best_set(0, squared_error);
    const Eigen::VectorXd first = left_[index(result_.mean_set)].col(0);
    const double mean = first.mean();
    if (result_.mean_set != FeatureSet::none) {
      estimate.mean = centre_ + scale_ * mean;
      estimate.mcse_mean = floored(scale_ * std::sqrt(squared_error));
    }

    result_.sd_set = best_set(1, squared_error);
    const Eigen::VectorXd second = left_[index(result_.sd_set)].col(1);
    const double variance = second.mean() - mean * mean;
    if (result_.sd_set != FeatureSet::none && variance > 0) {
      const double sd = std::sqrt(variance);
      const Eigen::VectorXd influence = (second + effect_of(result_.sd_set, 1) -
                                         2 * mean * (first + effect_of(result_.mean_set, 0))) /
                                        (2 * sd);
      estimate.sd = scale_ * sd;
      estimate.mcse_sd = floored(scale_ * std::sqrt(run_.errors.squared_error(influence)));
    }
    count_effective_draws(estimate);
    for (std::size_t t = 0; t < thresholds_.size(); ++t) sharpen_quantile(t, states);
  }

  Eigen::VectorXd effect_of(FeatureSet set, Index target) const {
    const Eigen::MatrixXd& effect = effects_[index(set)];
    if (effect.size() == 0) return Eigen::VectorXd::Zero(targets_.rows());
    return effect.col(target);
  }

  /// No error is smaller than what rounding makes of it.
  double floored(double error) const {
    constexpr double few = 8;
    const double rounding =
        few * std::numeric_limits<double>::epsilon() * std::abs(scalar_.known.mean) +
        single_precision * scalar_.known.sd;
    return std::max(error, rounding);
  }

  void count_effective_draws(Estimate& estimate) const {
    const double variance = estimate.sd * estimate.sd;
    estimate.ess_mean = variance / (estimate.mcse_mean * estimate.mcse_mean);
    double fourth = 0;
    for (Index s = 0; s < values_.size(); ++s) {
      const double offset = values_[s] - estimate.mean;
      fourth += run_.table.weights[s] * offset * offset * offset * offset;
    }
    fourth /= static_cast<double>(run_.table.draws());
    estimate.ess_sd =
        (fourth - variance * variance) / (4 * variance) / (estimate.mcse_sd * estimate.mcse_sd);
  }

  /// The sharpened distribution function near a threshold, with coefficients as they are: any
  /// coefficient leaves it unbiased, so they need not be fitted anew for every threshold.
  class Distribution {
   public:
    Distribution(const ScalarFit& fit, std::size_t t, FeatureSet set,
                 const std::vector<CoordinateStates>& states)
        : fit_(fit),
          states_(states),
          start_(fit.thresholds_[t]),
          column_(moment_targets + to_index(t)) {
      rest_ = fit.left_[index(set)].col(column_);
      for (const auto& of_fold : fit.slopes_) {
        const auto& slopes = of_fold[index(set)];
        slopes_.push_back(slopes.size() > 0 ? slopes[to_index(t)] : 0.0);
      }
      rest_ -= part(start_);
    }
    /// Per draw; their mean is the distribution function at x.
    Eigen::VectorXd series(double x) const { return rest_ + part(x); }
    double operator()(double x) const { return series(x).mean(); }

   private:
    /// What depends on the threshold: the indicator and its own feature.
    Eigen::VectorXd part(double x) const {
      const Run& run = fit_.run_;
      Eigen::VectorXd all(fit_.targets_.rows());
      for (std::size_t f = 0; f < run.folds.size(); ++f) {
        const Fold& fold = run.folds[f];
        if (states_.empty()) {
          all.segment(fold.begin, fold.end - fold.begin) =
              fit_.below(x).segment(fold.begin, fold.end - fold.begin);
          continue;
        }
        const ThresholdSeries at(fit_, f, states_[f], x);
        all.segment(fold.begin, fold.end - fold.begin) = at.indicator - slopes_[f] * at.feature;
      }
      return all;
    }
    const ScalarFit& fit_;
    const std::vector<CoordinateStates>& states_;
    double start_;
    Index column_;
    std::vector<double> slopes_;  ///< by fold
    Eigen::VectorXd rest_;
  };

  void sharpen_quantile(std::size_t t, const std::vector<CoordinateStates>& states) {
    double squared_error = 0;
    const FeatureSet set = best_set(moment_targets + to_index(t), squared_error);
    if (set == FeatureSet::none) return;
    QuantileEstimate& quantile = result_.estimate.quantiles[t];
    const double probability = measured_probability(quantile.probability);
    const Distribution distribution(*this, t, set, states);

    // The secant method, begun with the difference quotient over a tenth of an sd to both sides.
    const double width = 0.1 * measured_sd_;
    const double start = thresholds_[t];
    const double density =
        (distribution(start + width) - distribution(start - width)) / (2 * width);
    if (!(density > 0)) return;
    const double error = std::sqrt(squared_error);
    double off = left_[index(set)].col(moment_targets + to_index(t)).mean() - probability;
    const double allowed = 10 * (error + std::abs(off)) / density;
    double x = start;
    Eigen::VectorXd series;
    constexpr int most_steps = 12;
    constexpr double close = 1e-3;
    double step_slope = density;
    for (int step = 0; step < most_steps; ++step) {
      const double before = off;
      const double move = -off / step_slope;
      x += move;
      if (!(std::abs(x - start) <= allowed)) return;
      series = distribution.series(x);
      off = series.mean() - probability;
      if (std::abs(off) <= close * error) break;
      // Over short moves the quotient is noisy: good enough to step by, not to judge errors by.
      step_slope = std::clamp((off - before) / move, density / 2, 2 * density);
    }
    squared_error =
        run_.errors.squared_error(series + effect_of(set, moment_targets + to_index(t)));
    result_.quantile_sets[t] = set;
    double slope = 1;
    quantile.value = identical_ ? x : carried_over(x, slope);
    quantile.mcse = floored(std::sqrt(squared_error) / density * slope);
    const double own_error = quantile.mcse * density / slope;
    quantile.ess = probability * (1 - probability) / (own_error * own_error);
  }

  /// The value of a monotone function at x, between those of its neighbours; and its slope there.
  double carried_over(double x, double& slope) const {
    if (!follows_coordinate()) return x;
    const auto at = std::partition_point(order_.begin(), order_.end(),
                                         [&](Index s) { return measured_[s] <= x; });
    const auto clamp = [&](std::ptrdiff_t k) {
      return order_[static_cast<std::size_t>(
          std::clamp<std::ptrdiff_t>(k, 0, static_cast<std::ptrdiff_t>(order_.size()) - 1))];
    };
    const std::ptrdiff_t k = at - order_.begin();
    const auto quotient = [&](Index low, Index high) {
      const double run = measured_[high] - measured_[low];
      return run > 0 ? (values_[high] - values_[low]) / run : 0.0;
    };
    const Index low = clamp(k - 1);
    constexpr std::ptrdiff_t some = 20;
    slope = std::abs(quotient(clamp(k - 1 - some), clamp(k + some)));
    return values_[low] + quotient(low, clamp(k)) * (x - measured_[low]);
  }

  Run& run_;
  const ScalarStates& scalar_;
  SharpenedEstimate result_;
  Eigen::VectorXd values_;
  Eigen::VectorXd measured_;  ///< what quantiles are taken of: the coordinate, or the values
  double measured_sd_ = 0;
  bool identical_ = false;
  bool falling_ = false;
  std::vector<Index> order_;        ///< states by what is measured, if values differ from it
  std::vector<double> thresholds_;  ///< where quantiles are looked for
  std::vector<std::vector<double>> fold_thresholds_;  ///< where a fold's fields have theirs
  Eigen::MatrixXd indicator_moves_;                   ///< from those to these, in one fold
  Eigen::MatrixXd feature_moves_;
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
