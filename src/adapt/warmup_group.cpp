// Chooses metric and step size from the states of a group, and ends warmup.
#include "rehmc/adapt/warmup_group.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "metric_choice.hpp"
#include "rehmc/core/error.hpp"
#include "stage_statistics.hpp"
#include "tree_cost.hpp"

namespace rehmc {

namespace {

/// Before this many stages, nothing is known about the stability of anything.
constexpr std::uint64_t least_stages = 3;
/// A metric is stable if a new one lowers the loss by no more than these together.
constexpr double stable_loss = 2;
constexpr double stable_loss_per_coordinate = 0.02;
constexpr double stable_share_of_loss = 0.2;
/// Of the logarithm of the step size.
constexpr double stable_step_size = 0.2;
/// Of the log density, in its sds.
constexpr double stable_drift = 0.5;
/// Of the acceptance asked for, in every chain.
constexpr double least_share_of_acceptance = 0.5;
/// The further a density is from a normal one, the noisier is all that is learned from so few
/// trajectories. Up to this loss per coordinate, the first stages suffice; beyond, warmup takes
/// this many iterations more for every unit of it, up to a limit. There steps are also no longer
/// than the acceptance asked for allows: where a density varies in scale, chains get stuck in
/// narrow places.
constexpr double normal_loss = 0.25;
constexpr double iterations_per_loss = 100;
constexpr double most_least_iterations = 200;

using Samples = std::vector<const StateSample*>;

Samples pointers(const std::vector<StateSample>& samples) {
  Samples result;
  for (const StateSample& sample : samples) result.push_back(&sample);
  return result;
}

/// The evidence of a stage, and the conclusions from it.
class Conclusion {
 public:
  explicit Conclusion(std::span<const PooledWarmup* const> chains)
      : chains_(chains), stage_(chains.front()->evidence().shared.stage) {
    for (const PooledWarmup* chain : chains_) {
      const StageEvidence evidence = chain->evidence();
      if (!chain->waiting() || evidence.shared.stage != stage_) {
        throw ConfigError("warmup: a group pools when all its chains wait at the same iteration");
      }
      now_.push_back(evidence.current);
      both_.push_back(evidence.previous);
      both_.back().append(evidence.current);
    }
  }

  SharedTuning reach() {
    SharedTuning result;
    result.stage = stage_ + 1;
    choose(result);
    const std::vector<StepTrial> trials = trials_with(*result.tuning.metric);
    const double acceptance = chains_.front()->settings().adapt_step_size.target_acceptance;
    result.tuning.step_size = fit_step_size(trials, acceptance);
    const bool last = chains_.front()->iteration() == chains_.front()->settings().iterations;
    const bool stable = result.stage >= least_stages && stable_metric_ &&
                        enough_iterations(result) && stable_rest(result);
    result.ended = last || stable;
    if (result.ended && grows_trees() && result.tuning.metric == used(0).metric) {
      const TreeCost cost(trials, chains_.front()->kernel().settings().nuts.max_depth);
      const bool normal = loss_per_coordinate(result) < normal_loss;
      result.tuning.step_size = most_efficient_step_size(
          {result.tuning.step_size, acceptance, normal ? most_step_factor : 1}, cost);
    }
    tell(result, stable);
    return result;
  }

 private:
  const Tuning& used(std::size_t chain) const { return chains_[chain]->evidence().shared.tuning; }

  void choose(SharedTuning& result) {
    const WarmupSettings& settings = chains_.front()->settings();
    result.tuning.metric = used(0).metric;
    if (settings.metric == MetricKind::unit) return;
    const std::vector<MetricEstimator> estimators =
        estimators_of(settings.metric, settings.choose_metric, used(0).metric->dimension());
    StageStory& story = result.story;
    story.loss_before = loss_before();
    MetricChoice choice = choose_metric(estimators, pointers(both_), pointers(now_));
    story.loss = story.loss_before;
    story.tried = std::move(choice.tried);
    if (choice.estimator == nullptr) return;
    covariance_ = choice.metric;
    const double slack =
        stable_loss + stable_share_of_loss * choice.loss +
        stable_loss_per_coordinate * static_cast<double>(used(0).metric->dimension());
    // In the first stage, every chain has its own.
    stable_metric_ = stage_ > 0 && story.loss_before < choice.loss + slack;
    if (stable_metric_) return;
    result.tuning.metric = std::move(choice.metric);
    story.estimator = choice.estimator->name;
    story.loss = choice.loss;
  }

  void tell(SharedTuning& result, bool stable) const {
    result.story.iterations = static_cast<std::uint64_t>(chains_.front()->iteration());
    result.story.step_size = result.tuning.step_size;
    if (!result.ended) return;
    result.end.ended = stable ? "metric and step size are stable" : "all iterations are done";
    if (covariance_ == nullptr) return;
    result.end.condition =
        condition_number(*covariance_, *make_unit_metric(covariance_->dimension()));
    result.end.condition_left = condition_number(*covariance_, *used(0).metric);
  }

  /// Of the metrics that the stage was run with.
  double loss_before() const {
    double loss = 0;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const StateSample* const own = &now_[c];
      loss += mapping_loss(*used(c).metric, centred({&own, 1})) / static_cast<double>(now_.size());
    }
    return loss;
  }

  bool grows_trees() const {
    return traits(chains_.front()->kernel().settings().kind).shape == TrajectoryShape::tree;
  }

  /// All trials of the stage, at the step sizes that correspond to theirs under this metric.
  std::vector<StepTrial> trials_with(const Metric& metric) const {
    const std::vector<StateSample>& samples = now_;
    const Samples all = pointers(samples);
    const CentredStates one = centred(every_second(all, 0));
    const CentredStates other = centred(every_second(all, all.size() > 1 ? 1 : 0));
    std::vector<StepTrial> trials;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const double ratio = &metric == used(c).metric.get() || one.x.rows() == 0
                               ? 1
                               : step_size_ratio(metric, *used(c).metric, one, other);
      for (StepTrial trial : chains_[c]->evidence().trials) {
        trial.step_size *= ratio;
        trials.push_back(trial);
      }
    }
    return trials;
  }

  double loss_per_coordinate(const SharedTuning& result) const {
    return result.story.loss / static_cast<double>(used(0).metric->dimension());
  }

  bool enough_iterations(const SharedTuning& result) const {
    const double least = iterations_per_loss * (loss_per_coordinate(result) - normal_loss);
    return chains_.front()->iteration() >= std::min(least, most_least_iterations);
  }

  /// Whether no chain is stuck.
  bool all_accept() const {
    return std::ranges::all_of(chains_, [](const PooledWarmup* chain) {
      double sum = 0;
      for (const StepTrial& trial : chain->evidence().trials) sum += trial.acceptance;
      return sum >= least_share_of_acceptance *
                        chain->settings().adapt_step_size.target_acceptance *
                        static_cast<double>(chain->evidence().trials.size());
    });
  }

  bool stable_rest(const SharedTuning& result) const {
    std::vector<std::span<const double>> log_densities;
    for (const PooledWarmup* chain : chains_) {
      log_densities.push_back(chain->evidence().log_densities);
    }
    return std::abs(std::log(result.tuning.step_size / used(0).step_size)) < stable_step_size &&
           std::abs(drift(log_densities)) < stable_drift && all_accept();
  }

  std::span<const PooledWarmup* const> chains_;
  std::uint64_t stage_;
  std::vector<StateSample> now_;   ///< states of this stage
  std::vector<StateSample> both_;  ///< and of the one before
  bool stable_metric_ = true;
  std::shared_ptr<const Metric> covariance_;  ///< as estimated after the stage; may be nullptr
};

}  // namespace

SharedTuning pool(std::span<const PooledWarmup* const> chains) {
  return Conclusion(chains).reach();
}

}  // namespace rehmc
