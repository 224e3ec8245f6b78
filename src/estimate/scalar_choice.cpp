// One scalar: which features serve each summary best, and the sharpened numbers with their errors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scalar_fit.hpp"

namespace rehmc::stein {

namespace {

/// A larger set must be better by this factor of the variance: the choice is noisy.
constexpr double worthwhile = 0.9;
/// What the precision of stored gradients may do to an estimate, in sds.
constexpr double single_precision = 1e-5;

}  // namespace

/// The sharpened distribution function near a threshold, with coefficients as they are: any
/// coefficient leaves it unbiased, so they need not be fitted anew for every threshold.
class ScalarFit::Distribution {
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
    if (states_.empty()) return fit_.below(x);
    const Run& run = fit_.run_;
    Eigen::VectorXd all(fit_.targets_.rows());
    for (std::size_t f = 0; f < run.folds.size(); ++f) {
      const Fold& fold = run.folds[f];
      const ThresholdSeries at(run.table, run.frames[f], *fit_.coordinate_, states_[f], x,
                               fold.begin, fold.end);
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

double ScalarFit::squared_error(std::size_t set, Index target) {
  if (effects_[set].size() == 0) return run_.errors.squared_error(left_[set].col(target));
  return run_.errors.squared_error(left_[set].col(target) + effects_[set].col(target));
}

FeatureSet ScalarFit::best_set(Index target, double& squared_error) {
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

void ScalarFit::choose(const std::vector<CoordinateStates>& states) {
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

Eigen::VectorXd ScalarFit::effect_of(FeatureSet set, Index target) const {
  const Eigen::MatrixXd& effect = effects_[index(set)];
  if (effect.size() == 0) return Eigen::VectorXd::Zero(targets_.rows());
  return effect.col(target);
}

double ScalarFit::floored(double error) const {
  constexpr double few = 8;
  const double rounding =
      few * std::numeric_limits<double>::epsilon() * std::abs(scalar_.known.mean) +
      single_precision * scalar_.known.sd;
  return std::max(error, rounding);
}

void ScalarFit::count_effective_draws(Estimate& estimate) const {
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

void ScalarFit::sharpen_quantile(std::size_t t, const std::vector<CoordinateStates>& states) {
  double squared_error = 0;
  const FeatureSet set = best_set(moment_targets + to_index(t), squared_error);
  if (set == FeatureSet::none) return;
  QuantileEstimate& quantile = result_.estimate.quantiles[t];
  const double probability = measured_probability(quantile.probability);
  const Distribution distribution(*this, t, set, states);

  // The secant method, begun with the difference quotient over a tenth of an sd to both sides.
  const double width = 0.1 * measured_sd_;
  const double start = thresholds_[t];
  const double density = (distribution(start + width) - distribution(start - width)) / (2 * width);
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
  squared_error = run_.errors.squared_error(series + effect_of(set, moment_targets + to_index(t)));
  result_.quantile_sets[t] = set;
  double slope = 1;
  quantile.value = order_.empty() ? x : carried_over(x, slope);
  quantile.mcse = floored(std::sqrt(squared_error) / density * slope);
  const double own_error = quantile.mcse * density / slope;
  quantile.ess = probability * (1 - probability) / (own_error * own_error);
}

double ScalarFit::carried_over(double x, double& slope) const {
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

}  // namespace rehmc::stein
