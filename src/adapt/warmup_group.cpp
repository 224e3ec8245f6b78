// Chooses metric and step size from the states of a group, and ends warmup.
#include "rehmc/adapt/warmup_group.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "metric_choice.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/estimate/convergence.hpp"
#include "safe_step.hpp"
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
/// A chain keeps a step size of its own where the shared one is longer by this factor: it would
/// accept less than a third of its steps where 0.8 is asked.
constexpr double tolerable_step = 2;
constexpr std::size_t least_tried_steps = 8;
/// Of the acceptance asked for, in every chain.
constexpr double least_share_of_acceptance = 0.5;
/// What warmup goes on for until its last iteration. Other troubles are given a limited time.
constexpr std::uint32_t unsettled = WarmupTrouble::metric_changes |
                                    WarmupTrouble::step_size_changes | WarmupTrouble::drifts |
                                    WarmupTrouble::rejects;
constexpr double most_limited_share = 0.1;
/// The further a density is from a normal one, the noisier is all that is learned from so few
/// trajectories. Up to this loss per coordinate, the first stages suffice; beyond, warmup takes
/// this many iterations more for every unit of it, up to a limit.
constexpr double normal_loss = 0.25;
constexpr double iterations_per_loss = 100;
constexpr double most_least_iterations = 200;
/// Above this loss per coordinate, the choice of the step size is cautious.
constexpr double nearly_normal_loss = 0.05;
/// Of the fitted step: where a few places need far shorter ones, all others would pay for them.
constexpr double shortest_share = 0.5;
/// Of the log density in a stage, as short as it is.
constexpr double most_rhat = 1.6;

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
    const std::vector<std::vector<StepTrial>> by_chain = trials_with(*result.tuning.metric);
    std::vector<StepTrial> trials;
    for (const auto& own : by_chain) trials.insert(trials.end(), own.begin(), own.end());
    result.tuning.step_size =
        fit_step_size(trials, chains_.front()->settings().adapt_step_size.target_acceptance);
    const int iteration = chains_.front()->iteration();
    const bool last = iteration == chains_.front()->settings().iterations;
    find_chains_apart(result, last);
    result.troubles = troubles(result);
    const bool settled = has_settled(result);
    result.ended = last || settled;
    if (result.ended) choose_step_sizes(result, by_chain, trials);
    tell(result, settled);
    return result;
  }

 private:
  void choose_step_sizes(SharedTuning& result, const std::vector<std::vector<StepTrial>>& by_chain,
                         const std::vector<StepTrial>& trials) const {
    const double acceptance = chains_.front()->settings().adapt_step_size.target_acceptance;
    const double fitted = result.tuning.step_size;
    const double shortest = shortest_share * fitted;
    const double accepted = std::max(step_accepted_everywhere(by_chain, fitted), shortest);
    double chosen = accepted;
    if (grows_trees() && stable_metric_) {
      const TreeCost cost(trials, chains_.front()->kernel().settings().nuts.max_depth);
      const bool cautious = accepted < fitted || loss_per_coordinate(result) >= nearly_normal_loss;
      chosen = most_efficient_step_size({accepted, acceptance, cautious}, cost);
    }
    const double calm = std::max(step_without_divergences(by_chain), shortest);
    result.tuning.step_size = std::min(chosen, calm);
    result.own_step_sizes = own_step_sizes(by_chain, result.tuning.step_size, acceptance);
  }

  bool has_settled(const SharedTuning& result) const {
    const bool patient = chains_.front()->iteration() < most_least_iterations &&
                         (result.apart != 0 || (result.troubles & WarmupTrouble::depth_limit) != 0);
    return result.stage >= least_stages && enough_iterations(result) &&
           (result.troubles & unsettled) == 0 && result.restarts == 0 && !patient && !slow();
  }

  /// Whether chains are too slow to have seen much of the density: their log densities differ.
  bool slow() const {
    if (chains_.front()->iteration() >= most_least_iterations) return false;
    std::vector<Series> series;
    for (const auto& s : log_densities()) series.push_back({s.data(), s.size(), 1});
    return convergence(series).rhat > most_rhat;
  }

  const Tuning& used(std::size_t chain) const { return chains_[chain]->evidence().shared.tuning; }

  void choose(SharedTuning& result) {
    const WarmupSettings& settings = chains_.front()->settings();
    result.tuning.metric = used(0).metric;
    if (settings.metric == MetricKind::unit) return;
    const std::vector<MetricEstimator> estimators =
        estimators_of(settings.metric, used(0).metric->dimension());
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
    // A better one costs nothing, even where it is not worth another stage.
    if (stable_metric_ && story.loss_before <= choice.loss) return;
    result.tuning.metric = std::move(choice.metric);
    story.estimator = choice.estimator->name;
    story.loss = choice.loss;
  }

  void tell(SharedTuning& result, bool settled) const {
    result.story.iterations = static_cast<std::uint64_t>(chains_.front()->iteration());
    result.story.step_size = result.tuning.step_size;
    if (!result.ended) return;
    result.end.ended = settled ? "metric and step size are stable" : "all iterations are done";
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

  /// The trials of each chain, at the step sizes that correspond to theirs under this metric.
  std::vector<std::vector<StepTrial>> trials_with(const Metric& metric) const {
    const Samples all = pointers(now_);
    const CentredStates one = centred(every_second(all, 0));
    const CentredStates other = centred(every_second(all, all.size() > 1 ? 1 : 0));
    std::vector<std::vector<StepTrial>> trials;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const double ratio = &metric == used(c).metric.get() || one.x.rows() == 0
                               ? 1
                               : step_size_ratio(metric, *used(c).metric, one, other);
      const std::span<const StepTrial> own = chains_[c]->evidence().trials;
      trials.emplace_back(own.begin(), own.end());
      for (StepTrial& trial : trials.back()) trial.step_size *= ratio;
    }
    return trials;
  }

  /// A chain that would reject most of its steps with the shared step size has its own.
  static std::vector<double> own_step_sizes(const std::vector<std::vector<StepTrial>>& trials,
                                            double shared, double acceptance) {
    std::vector<double> own(trials.size(), 0.0);
    for (std::size_t c = 0; c < trials.size(); ++c) {
      if (trials[c].size() < least_tried_steps) continue;
      const double fitted = fit_step_size(trials[c], acceptance);
      if (fitted * tolerable_step < shared) own[c] = fitted;
    }
    const bool any = std::ranges::any_of(own, [](double step_size) { return step_size > 0; });
    return any ? own : std::vector<double>{};
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

  std::vector<std::span<const double>> log_densities() const {
    std::vector<std::span<const double>> chains;
    for (const PooledWarmup* chain : chains_) chains.push_back(chain->evidence().log_densities);
    return chains;
  }

  std::uint32_t troubles(const SharedTuning& result) const {
    const double step_change = std::log(result.tuning.step_size / used(0).step_size);
    std::uint32_t set = 0;
    if (!stable_metric_) set |= WarmupTrouble::metric_changes;
    if (std::abs(step_change) >= stable_step_size) set |= WarmupTrouble::step_size_changes;
    if (!(std::abs(drift(log_densities())) < stable_drift)) set |= WarmupTrouble::drifts;
    if (!all_accept()) set |= WarmupTrouble::rejects;
    if (at_depth_limit()) set |= WarmupTrouble::depth_limit;
    return set;
  }

  bool at_depth_limit() const {
    if (!grows_trees()) return false;
    const double most = std::ldexp(1.0, chains_.front()->kernel().settings().nuts.max_depth) - 1;
    double trials = 0;
    double limited = 0;
    for (const PooledWarmup* chain : chains_) {
      for (const StepTrial& trial : chain->evidence().trials) {
        trials += 1;
        limited += trial.leapfrogs >= most ? 1 : 0;
      }
    }
    return limited > most_limited_share * trials;
  }

  /// Chains far below the others start again elsewhere, once.
  void find_chains_apart(SharedTuning& result, bool last) const {
    result.restarted = chains_.front()->evidence().shared.restarted;
    if (result.stage < least_stages) return;
    std::vector<double> masses;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      masses.push_back(log_mass(now_[c], chains_[c]->evidence().log_densities));
    }
    for (const std::size_t c : outliers_below(masses, used(0).metric->dimension())) {
      result.apart |= ChainSet{1} << c;
    }
    if (!last) result.restarts = result.apart & ~result.restarted;
    result.restarted |= result.restarts;
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
