// Chooses the features for each summary of a scalar and computes the sharpened numbers.
#include "scalar_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "rehmc/core/numerics.hpp"
#include "tail_growth.hpp"
#include "tail_mass.hpp"

namespace rehmc::stein {

namespace {

/// An error bar rests on what was not seen if an excursion beyond the extremes is expected to add
/// more to its square than all that was seen; and more to that of the recycled estimate as well,
/// for what features leave lies in the tails even if these are light.
constexpr double most_unseen = 1;
/// Or if the recycled estimate looks light and the density falls fast at the extremes, as in a run
/// that has missed a tail, and the least that features leave of such an excursion is more than all
/// that was seen, and no small part of the squared error of the recycled estimate.
constexpr double looks_light = 0.5;
constexpr double small_part = 0.02;
/// A larger set must reduce the variance to this share: the choice is noisy.
constexpr double worthwhile = 0.9;
/// The effect of storing gradients in single precision on an estimate, in sds.
constexpr double single_precision = 1e-5;

}  // namespace

/// The sharpened distribution function near a threshold. The coefficients stay as fitted: any
/// coefficient leaves it unbiased, so they need not be fitted again for every threshold.
class ScalarChoice::Distribution {
 public:
  Distribution(const ScalarChoice& choice, std::size_t t, FeatureSet set) : choice_(choice) {
    const Remainders& remainders = choice.remainders_;
    const Index target = choice.target_.columns().indicators()[to_index(t)];
    rest_ = choice.left(set).col(target) - choice.target_.targets().col(target);
    for (std::size_t f = 0; f < remainders.slopes.size(); ++f) {
      const Fold& fold = choice.run_.folds[f];
      slopes_.push_back(remainders.slopes[f][Remainders::index(set)][to_index(t)]);
      fold.of(rest_) += slopes_[f] * fold.of(remainders.threshold_features.col(to_index(t)));
    }
  }
  /// Per draw; their mean is the distribution function at x.
  Eigen::VectorXd series(double x) const { return rest_ + part(x); }
  double operator()(double x) const {
    if (choice_.states_.empty()) return series(x).mean();
    double sum = rest_.sum();
    for (std::size_t f = 0; f < slopes_.size(); ++f) {
      const Fold& fold = choice_.run_.folds[f];
      sum += at(f, x).sum_of_means({1, -slopes_[f]}, fold.begin, fold.end);
    }
    return sum / static_cast<double>(rest_.size());
  }
  /// The density at x, from a difference quotient.
  double density(double x, double width) const {
    return ((*this)(x + width) - (*this)(x - width)) / (2 * width);
  }
  /// The height of its jump at a state.
  double jump() const {
    double slope = 0;
    for (const double of_fold : slopes_) slope += of_fold / static_cast<double>(slopes_.size());
    return (1 - slope) / static_cast<double>(choice_.run_.table.states());
  }

 private:
  /// What depends on the threshold: the indicator and its own feature.
  Eigen::VectorXd part(double x) const {
    if (choice_.states_.empty()) return choice_.target_.below(x);
    Eigen::VectorXd all(rest_.size());
    for (std::size_t f = 0; f < slopes_.size(); ++f) {
      const Fold& fold = choice_.run_.folds[f];
      fold.of(all) = at(f, x).means({1, -slopes_[f]}, fold.begin, fold.end);
    }
    return all;
  }
  Threshold at(std::size_t f, double x) const {
    const Run& run = choice_.run_;
    return {run.table, run.frames[f], *choice_.target_.coordinate(), choice_.states_[f], x};
  }

  const ScalarChoice& choice_;
  std::vector<double> slopes_;  ///< by fold
  Eigen::VectorXd rest_;        ///< what does not depend on the threshold
};

namespace {

/// Goes from the smallest set to the largest. A candidate is taken instead of the best one so far
/// if may_replace(candidate, best), which is cheap, and is_better(error, least) say so; `least` is
/// the least squared error so far.
template <class MayReplace, class IsBetter>
FeatureSet best_of(const std::vector<Candidate>& candidates, MeanErrors& errors,
                   const MayReplace& may_replace, const IsBetter& is_better) {
  const Candidate* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    if (best && !may_replace(candidate, *best)) continue;
    const MeanError error = errors.error(candidate.influence);
    if (best && !is_better(error, least)) continue;
    best = &candidate;
    least = std::min(least, error.squared);
  }
  return best ? best->set : FeatureSet::none;
}

}  // namespace

FeatureSet best_of_moment(const std::vector<Candidate>& candidates, MeanErrors& errors) {
  return best_of(
      candidates, errors, [](const Candidate&, const Candidate&) { return true; },
      [](const MeanError& error, double least) {
        const double relative_error = std::sqrt(2 / error.degrees);
        return error.squared < (worthwhile + relative_error) * least;
      });
}

FeatureSet best_of_indicator(const std::vector<Candidate>& candidates, MeanErrors& errors,
                             const std::vector<Fold>& folds) {
  const auto left = [](const Candidate& of, const Fold& fold) {
    return (fold.of(of.influence).array() - of.influence.mean()).square().sum();
  };
  return best_of(
      candidates, errors,
      [&](const Candidate& candidate, const Candidate& best) {
        const auto less_in = [&](const Fold& fold) {
          return left(candidate, fold) < left(best, fold);
        };
        return best.set == FeatureSet::none || std::all_of(folds.begin(), folds.end(), less_in);
      },
      [](const MeanError& error, double least) { return error.squared < worthwhile * least; });
}

FeatureSet ScalarChoice::best_set(Index target) {
  const bool indicator = target >= TargetColumns::moments.end();
  std::vector<Candidate> candidates;
  for (std::size_t s = 0; s < feature_sets; ++s) {
    const auto set = static_cast<FeatureSet>(s);
    // The own features that indicators get grow moderately and do no harm next to the bounded ones.
    const bool contained =
        indicator && set == FeatureSet::bounded && remainders_.fitted(FeatureSet::own, target);
    if (!remainders_.fitted(set, target) || contained) continue;
    candidates.push_back({set, left(set).col(target) + remainders_.effect_of(set, target)});
  }
  return indicator ? best_of_indicator(candidates, run_.errors, run_.folds)
                   : best_of_moment(candidates, run_.errors);
}

SharpenedEstimate ScalarChoice::estimate() {
  sharpen_moments();
  count_effective_draws(result_.estimate);
  for (std::size_t t = 0; t < target_.thresholds().size(); ++t) sharpen_quantile(t);
  return std::move(result_);
}

void ScalarChoice::sharpen_moments() {
  Estimate& estimate = result_.estimate;
  const TailGrowth growth = tail_growth(run_, target_, states_);
  const LeastLeft least = least_left(tail_mass_left(), run_.table.draws());
  const UnseenExcursion of_mean{growth.of_mean, least.of_mean};
  const UnseenExcursion of_square{growth.of_square, least.of_square};
  result_.mean_set = best_set(TargetColumns::mean);
  const Eigen::VectorXd first = left(result_.mean_set).col(TargetColumns::mean);
  const Eigen::VectorXd first_influence =
      first + remainders_.effect_of(result_.mean_set, TargetColumns::mean);
  const double scale = target_.scale();
  const double mean = first.mean();
  const MeanError error_of_mean =
      run_.errors.error(first_influence, left(FeatureSet::none).col(TargetColumns::mean), of_mean);
  if (result_.mean_set != FeatureSet::none) {
    estimate.mean = target_.centre() + scale * mean;
    estimate.mcse_mean = floored(scale * std::sqrt(error_of_mean.squared));
    estimate.degrees_mean = error_of_mean.degrees;
  }
  result_.mean_tail_seen =
      error_of_mean.unseen <= most_unseen ||
      tail_seen(TargetColumns::mean, first_influence, of_mean, estimate.mcse_mean);

  result_.sd_set = best_set(TargetColumns::square);
  const Eigen::VectorXd second = left(result_.sd_set).col(TargetColumns::square);
  // The square of an estimated mean is too large by its squared error e^2 on average, and varies
  // by 2 e^4 more than the influence shows.
  const double squared_error = run_.errors.squared_error(first_influence);
  const double variance = second.mean() - (mean * mean - squared_error);
  const Eigen::VectorXd second_influence =
      second + remainders_.effect_of(result_.sd_set, TargetColumns::square) -
      2 * mean * first_influence;
  const MeanError error_of_variance = run_.errors.error(
      second_influence, left(FeatureSet::none).col(TargetColumns::square), of_square);
  if (result_.sd_set != FeatureSet::none && variance > 0) {
    const double sd = std::sqrt(variance);
    estimate.sd = scale * sd;
    const double beyond = squared_error / (std::numbers::sqrt2 * sd);
    const double error = std::sqrt(error_of_variance.squared) / (2 * sd);
    estimate.mcse_sd = floored(scale * std::hypot(error, beyond));
    estimate.degrees_sd = error_of_variance.degrees;
  }
  result_.sd_tail_seen =
      error_of_variance.unseen <= most_unseen ||
      tail_seen(TargetColumns::square, second_influence, of_square, estimate.mcse_sd);
}

bool ScalarChoice::tail_seen(Index target, const Eigen::VectorXd& influence,
                             const UnseenExcursion& unseen, double reported) const {
  if (reported <= floored(0)) return true;
  const auto whole = left(FeatureSet::none).col(target);
  const double of_recycled = run_.errors.error(whole, whole, unseen).unseen;
  if (of_recycled >= looks_light || unseen.growth > usual_growth) {
    const UnseenExcursion as_the_seen{unseen.growth, 0};
    return of_recycled <= most_unseen ||
           run_.errors.error(influence, whole, as_the_seen).unseen <= most_unseen;
  }
  const double least = of_recycled * unseen.least_left;
  const double seen = run_.errors.squared_error(influence) / run_.errors.squared_error(whole);
  return least <= std::max(small_part, most_unseen * seen);
}

FeatureSet ScalarChoice::set_of_threshold(std::size_t t) {
  std::optional<FeatureSet>& set = threshold_sets_[t];
  if (!set) set = best_set(target_.columns().indicators()[to_index(t)]);
  return *set;
}

double ScalarChoice::tail_mass_left() {
  if (threshold_sets_.empty()) return 0;
  double most = 0;
  for (const std::size_t t : {std::size_t{0}, threshold_sets_.size() - 1}) {
    const Index target = target_.columns().indicators()[to_index(t)];
    const FeatureSet set = set_of_threshold(t);
    const double whole = run_.errors.squared_error(left(FeatureSet::none).col(target));
    const double rest =
        run_.errors.squared_error(left(set).col(target) + remainders_.effect_of(set, target));
    if (whole > 0) most = std::max(most, rest / whole);
  }
  return most;
}

double ScalarChoice::floored(double error) const {
  constexpr double few = 8;
  const double rounding =
      few * std::numeric_limits<double>::epsilon() * std::abs(target_.known().mean) +
      single_precision * target_.known().sd;
  return std::max(error, rounding);
}

void ScalarChoice::count_effective_draws(Estimate& estimate) const {
  const double variance = estimate.sd * estimate.sd;
  estimate.ess_mean = variance / (estimate.mcse_mean * estimate.mcse_mean);
  double fourth = 0;
  for (Index s = 0; s < target_.values().size(); ++s) {
    const double offset = target_.values()[s] - estimate.mean;
    fourth += run_.table.weights[s] * offset * offset * offset * offset;
  }
  fourth /= static_cast<double>(run_.table.draws());
  estimate.ess_sd =
      (fourth - variance * variance) / (4 * variance) / (estimate.mcse_sd * estimate.mcse_sd);
}

void ScalarChoice::sharpen_quantile(std::size_t t) {
  const Index target = target_.columns().indicators()[to_index(t)];
  const FeatureSet set = set_of_threshold(t);
  if (set == FeatureSet::none) return;
  const Eigen::VectorXd effect = remainders_.effect_of(set, target);
  QuantileEstimate& quantile = result_.estimate.quantiles[t];
  const double probability = target_.measured_probability(quantile.probability);
  const Distribution distribution(*this, t, set);
  const double error = std::sqrt(run_.errors.squared_error(left(set).col(target) + effect));
  const double off = left(set).col(target).mean() - probability;
  const Crossing found =
      find_crossing(distribution, target_.thresholds()[t], off, error, probability);
  if (!(found.density > 0)) return;
  // Between two states the threshold could be anywhere.
  const MeanError of_series = run_.errors.error(found.series + effect);
  const double squared_error =
      found.off * found.off + distribution.jump() * distribution.jump() + of_series.squared;
  result_.quantile_sets[t] = set;
  const ScalarTarget::CarriedOver there = target_.carried_over(found.x);
  // A distribution function that was corrected too far may seem to rise beyond all states, where
  // there may be none, such as below 0.
  quantile.value =
      std::clamp(there.value, target_.values().minCoeff(), target_.values().maxCoeff());
  quantile.mcse =
      floored(std::hypot(std::sqrt(squared_error) / found.density * there.slope, there.correction));
  quantile.degrees = of_series.degrees;
  const double own_error = quantile.mcse * found.density / there.slope;
  quantile.ess = probability * (1 - probability) / (own_error * own_error);
}

ScalarChoice::Crossing ScalarChoice::find_crossing(const Distribution& distribution, double start,
                                                   double off, double error,
                                                   double probability) const {
  // The secant method, started with the difference quotient over a tenth of an sd on both sides.
  const double width = 0.1 * target_.measured_sd();
  const double density = distribution.density(start, width);
  if (!(density > 0)) return {};
  const double allowed = 10 * (error + std::abs(off)) / density;
  Crossing found{start, off, density, {}};
  constexpr int most_steps = 12;
  constexpr double close = 1e-2;
  double step_slope = density;
  for (int step = 0; step < most_steps; ++step) {
    const double before = found.off;
    const double move = -found.off / step_slope;
    found.x += move;
    if (!(std::abs(found.x - start) <= allowed)) return {};
    found.series = distribution.series(found.x);
    found.off = found.series.mean() - probability;
    if (std::abs(found.off) <= close * error) break;
    // Over short moves the quotient is noisy: good enough to step by, but not to judge errors.
    step_slope = std::clamp((found.off - before) / move, density / 2, 2 * density);
  }
  // The density may differ where the recycled estimate is.
  if (std::abs(found.x - start) > width / 2) found.density = distribution.density(found.x, width);
  return found;
}

}  // namespace rehmc::stein
