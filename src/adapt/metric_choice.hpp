// Private to adapt/: chooses among estimators of a metric by states that they have not seen.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "metric_estimator.hpp"
#include "rehmc/adapt/state_sample.hpp"
#include "rehmc/adapt/warmup_story.hpp"

namespace rehmc {

/// Samples of chains as one set of states.
CentredStates centred(std::span<const StateSample* const> chains);

/// How badly a metric maps gradients onto states: the mean of |x + S g|^2 in the norm of S^-1, with
/// S = M^{-1}. It is 0 for a Gaussian with covariance S; a direction in which S is wrong by a
/// factor of f adds f + 1/f - 2. Up to a constant that is the same for all metrics, it is tr(S^-1
/// Cov(x)) + tr(S Cov(g)).
double mapping_loss(const Metric& metric, const CentredStates& states);

struct MetricChoice {
  const MetricEstimator* estimator = nullptr;  ///< nullptr if none could be used
  std::shared_ptr<const Metric> metric;        ///< from the states of all chains
  double loss = 0;                             ///< on states of other chains
  std::vector<MetricTrial> tried;              ///< all whose loss is finite
};

/// Every second chain, from this one on.
std::vector<const StateSample*> every_second(std::span<const StateSample* const> chains,
                                             std::size_t first);

/// The estimator with the least loss on states of other chains: fitted to every second chain,
/// tested on the others, and the other way round. Then its metric from all chains. `fitted` are the
/// states to fit to, `tested` those to test on, chain by chain. Of a single chain, the first half
/// of the states to fit to is tested on the second, and the other way round.
MetricChoice choose_metric(std::span<const MetricEstimator> estimators,
                           std::span<const StateSample* const> fitted,
                           std::span<const StateSample* const> tested);

/// Those that estimate a metric of this kind, or all; in order of the numbers that they estimate.
std::vector<MetricEstimator> estimators_of(std::optional<MetricKind> kind, std::size_t dimension);

}  // namespace rehmc
