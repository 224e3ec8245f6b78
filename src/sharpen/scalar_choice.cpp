// One scalar: which features serve each summary best, and the sharpened numbers with their errors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "scalar_fit.hpp"

namespace rehmc::stein {

namespace {

/// Moments whose tail is heavier than this get a warning. Shapes are underrated where chains take
/// long to come from the tails, so it must be less than the 0.5 of theory.
constexpr double surely_heavy = 0.4;
/// A larger set must be better by this factor of the variance: the choice is noisy.
constexpr double worthwhile = 0.9;
/// A set that leaves a remainder whose variance is hardly known must be better by far.
constexpr double by_far = 0.15;
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
        rest_(fit.left_[index(set)].col(moment_targets + to_index(t)) -
              fit.targets_.col(moment_targets + to_index(t))) {
    for (std::size_t f = 0; f < fit.slopes_.size(); ++f) {
      const Fold& fold = fit.run_.folds[f];
      const Index count = fold.end - fold.begin;
      slopes_.push_back(fit.slopes_[f][index(set)][to_index(t)]);
      rest_.segment(fold.begin, count) +=
          slopes_[f] * fit.threshold_features_.col(to_index(t)).segment(fold.begin, count);
    }
  }
  /// Per draw; their mean is the distribution function at x.
  Eigen::VectorXd series(double x) const { return rest_ + part(x); }
  double operator()(double x) const {
    if (states_.empty()) return series(x).mean();
    double sum = rest_.sum();
    for (std::size_t f = 0; f < slopes_.size(); ++f) {
      const Fold& fold = fit_.run_.folds[f];
      sum += at(f, x).sum_of_means({1, -slopes_[f]}, fold.begin, fold.end);
    }
    return sum / static_cast<double>(rest_.size());
  }
  /// By how much it jumps at a state.
  double jump() const {
    double slope = 0;
    for (const double of_fold : slopes_) slope += of_fold / static_cast<double>(slopes_.size());
    return (1 - slope) / static_cast<double>(fit_.run_.table.states());
  }

 private:
  /// What depends on the threshold: the indicator and its own feature.
  Eigen::VectorXd part(double x) const {
    if (states_.empty()) return fit_.below(x);
    Eigen::VectorXd all(rest_.size());
    for (std::size_t f = 0; f < slopes_.size(); ++f) {
      const Fold& fold = fit_.run_.folds[f];
      all.segment(fold.begin, fold.end - fold.begin) =
          at(f, x).means({1, -slopes_[f]}, fold.begin, fold.end);
    }
    return all;
  }
  Threshold at(std::size_t f, double x) const {
    return {fit_.run_.table, fit_.run_.frames[f], *fit_.coordinate_, states_[f], x};
  }
  const ScalarFit& fit_;
  const std::vector<CoordinateStates>& states_;
  std::vector<double> slopes_;  ///< by fold
  Eigen::VectorXd rest_;        ///< what does not depend on the threshold
};

namespace {

/// From the smallest on; is_sure(candidate, best, ratio) tells whether a smaller error, by that
/// ratio, is to be trusted.
template <class IsSure>
FeatureSet best_of(const std::vector<Candidate>& candidates, Errors& errors,
                   const IsSure& is_sure) {
  const Candidate* best = nullptr;
  double least = nan_value;
  for (const Candidate& candidate : candidates) {
    const double error = errors.raised_error(candidate.influence);
    if (!best || (error < worthwhile * least && is_sure(candidate, *best, error / least))) {
      least = error;
      best = &candidate;
    }
  }
  return best ? best->set : FeatureSet::none;
}

}  // namespace

FeatureSet best_of_moment(const std::vector<Candidate>& candidates, Errors& errors) {
  const auto heavy = [](const Candidate& one) {
    return one.set != FeatureSet::none && shape_about_mean(one.influence) > surely_known;
  };
  return best_of(candidates, errors,
                 [&](const Candidate& candidate, const Candidate& best, double ratio) {
                   return ratio < by_far * worthwhile || !heavy(candidate) || heavy(best);
                 });
}

FeatureSet best_of_indicator(const std::vector<Candidate>& candidates, Errors& errors,
                             const std::vector<Fold>& folds) {
  const auto left = [](const Candidate& of, const Fold& fold) {
    const auto own = of.influence.segment(fold.begin, fold.end - fold.begin);
    return (own.array() - of.influence.mean()).square().sum();
  };
  return best_of(candidates, errors,
                 [&](const Candidate& candidate, const Candidate& best, double) {
                   return best.set == FeatureSet::none ||
                          std::all_of(folds.begin(), folds.end(), [&](const Fold& fold) {
                            return left(candidate, fold) < left(best, fold);
                          });
                 });
}

FeatureSet ScalarFit::best_set(Index target) {
  const bool indicator = target >= moment_targets;
  const auto fitted = [&](FeatureSet set) {
    const Eigen::MatrixXd& left = left_[index(set)];
    return left.size() > 0 && left.col(target).allFinite();
  };
  std::vector<Candidate> candidates;
  for (std::size_t s = 0; s < set_count; ++s) {
    const auto set = static_cast<FeatureSet>(s);
    // The features of moderate growth that indicators get do no harm beside the bounded ones.
    const bool contained = indicator && set == FeatureSet::bounded && fitted(FeatureSet::own);
    if (!fitted(set) || contained) continue;
    candidates.push_back({set, left_[s].col(target) + effect_of(set, target)});
  }
  return indicator ? best_of_indicator(candidates, run_.errors, run_.folds)
                   : best_of_moment(candidates, run_.errors);
}

SharpenedEstimate ScalarFit::choose(const std::vector<CoordinateStates>& states) {
  Estimate& estimate = result_.estimate;
  result_.mean_set = best_set(0);
  const Eigen::VectorXd first = left_[index(result_.mean_set)].col(0);
  const Eigen::VectorXd first_effect = effect_of(result_.mean_set, 0);
  const double mean = first.mean();
  if (result_.mean_set != FeatureSet::none) {
    estimate.mean = centre_ + scale_ * mean;
    estimate.mcse_mean =
        floored(scale_ * std::sqrt(run_.errors.reported_error(first + first_effect)));
  }
  result_.mean_has_error = has_error(result_.mean_set, 0, estimate.mcse_mean);

  result_.sd_set = best_set(1);
  const Eigen::VectorXd second = left_[index(result_.sd_set)].col(1);
  // The square of an estimated mean is too large by its squared error e^2 on average, and varies
  // by 2 e^4 beyond what the influence tells.
  const double squared_error = run_.errors.squared_error(first + first_effect);
  const double variance = second.mean() - (mean * mean - squared_error);
  if (result_.sd_set != FeatureSet::none && variance > 0) {
    const double sd = std::sqrt(variance);
    const Eigen::VectorXd influence =
        (second + effect_of(result_.sd_set, 1) - 2 * mean * (first + first_effect)) / (2 * sd);
    estimate.sd = scale_ * sd;
    const double beyond = squared_error / (std::numbers::sqrt2 * sd);
    estimate.mcse_sd =
        floored(scale_ * std::hypot(std::sqrt(run_.errors.reported_error(influence)), beyond));
  }
  result_.sd_has_error = has_error(result_.sd_set, 1, estimate.mcse_sd);
  count_effective_draws(estimate);
  for (std::size_t t = 0; t < thresholds_.size(); ++t) sharpen_quantile(t, states);
  for (std::size_t s = index(FeatureSet::none) + 1; s < set_count; ++s) {
    run_.give_back(std::move(left_[s]));
    run_.give_back(std::move(effects_[s]));
  }
  return std::move(result_);
}

Eigen::VectorXd ScalarFit::effect_of(FeatureSet set, Index target) const {
  const Eigen::MatrixXd& effect = effects_[index(set)];
  if (effect.size() == 0) return Eigen::VectorXd::Zero(targets_.rows());
  return effect.col(target);
}

bool ScalarFit::has_error(FeatureSet set, Index target, double error) const {
  const bool heavy = static_cast<double>(target + 1) * shape_ > surely_heavy;
  if (!heavy) return true;
  if (set == FeatureSet::none) return false;
  if (error <= floored(0)) return true;
  return !(shape_about_mean(left_[index(set)].col(target) + effect_of(set, target)) > surely_heavy);
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
  const Index target = moment_targets + to_index(t);
  const FeatureSet set = best_set(target);
  if (set == FeatureSet::none) return;
  const Eigen::VectorXd effect = effect_of(set, target);
  QuantileEstimate& quantile = result_.estimate.quantiles[t];
  const double probability = measured_probability(quantile.probability);
  const Distribution distribution(*this, t, set, states);

  // The secant method, begun with the difference quotient over a tenth of an sd to both sides.
  const double width = 0.1 * measured_sd_;
  const auto density_at = [&](double x) {
    return (distribution(x + width) - distribution(x - width)) / (2 * width);
  };
  const double start = thresholds_[t];
  double density = density_at(start);
  if (!(density > 0)) return;
  const double error = std::sqrt(run_.errors.squared_error(left_[index(set)].col(target) + effect));
  double off = left_[index(set)].col(target).mean() - probability;
  const double allowed = 10 * (error + std::abs(off)) / density;
  double x = start;
  Eigen::VectorXd series;
  constexpr int most_steps = 12;
  constexpr double close = 1e-2;
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
  // The recycled estimate may lie where the density is another one.
  if (std::abs(x - start) > width / 2) density = density_at(x);
  if (!(density > 0)) return;
  // Between two states the threshold could be anywhere.
  const double squared_error = off * off + distribution.jump() * distribution.jump() +
                               run_.errors.reported_error(series + effect);
  result_.quantile_sets[t] = set;
  const CarriedOver there = carried_over(x);
  quantile.value = there.value;
  quantile.mcse =
      floored(std::hypot(std::sqrt(squared_error) / density * there.slope, there.correction));
  const double own_error = quantile.mcse * density / there.slope;
  quantile.ess = probability * (1 - probability) / (own_error * own_error);
}

ScalarFit::CarriedOver ScalarFit::carried_over(double x) const {
  if (order_.empty()) return {x, 1, 0};
  const auto at = std::partition_point(order_.begin(), order_.end(),
                                       [&](Index s) { return measured_[s] <= x; });
  const std::ptrdiff_t k = at - order_.begin();
  const auto state = [&](std::ptrdiff_t place) {
    return order_[static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(order_.size()) - 1))];
  };
  const auto quotient = [&](Index from, Index to) {
    const double run = measured_[to] - measured_[from];
    return run > 0 ? (values_[to] - values_[from]) / run : 0.0;
  };
  const Index low = state(k - 1);
  const Index high = state(k);
  constexpr std::ptrdiff_t some = 20;
  const Index before = state(k - 1 - some);
  const Index after = state(k + some);
  const double span = measured_[after] - measured_[before];
  const double curvature =
      span > 0 ? 2 * (quotient(high, after) - quotient(before, low)) / span : 0.0;
  const double correction =
      curvature / 2 * (x - measured_[low]) * std::min(0.0, x - measured_[high]);
  return {values_[low] + quotient(low, high) * (x - measured_[low]) + correction,
          std::abs(quotient(before, after)), correction};
}

}  // namespace rehmc::stein
