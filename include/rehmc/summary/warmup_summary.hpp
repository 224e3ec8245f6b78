// What the warmup of a run tells, over all its chains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rehmc/adapt/warmup_story.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// Gradients are sums over chains. With several groups, stages are those of the first.
struct WarmupSummary {
  std::vector<StartOutcome> starts;  ///< per chain; empty if nothing is known of warmup
  std::size_t groups = 1;            ///< of chains that learned together
  MetricKind metric = MetricKind::unit;
  double condition = std::numeric_limits<double>::quiet_NaN();       ///< of the worst chain
  double condition_left = std::numeric_limits<double>::quiet_NaN();  ///< likewise
  std::uint64_t iterations = 0;                                      ///< of the first chain
  std::uint64_t gradients = 0;        ///< of warmup: starts and stages
  std::uint64_t gradients_start = 0;  ///< of the search for starts
  double path_length = 0;             ///< of HMC, mean over chains; 0 if it was not searched for
  std::uint64_t gradients_path = 0;   ///< of the search for it
  std::uint64_t gradients_check = 0;  ///< evaluations by which the gradient was checked afterwards
  std::vector<StageStory> stages;
  std::string ended;

  bool known() const { return !starts.empty(); }
  /// The stage that found the metric; nullptr if none did.
  const StageStory* deciding_stage() const;
};

/// Of a run whose chains have all begun to sample; else, and for draws of other programs, nothing
/// is known.
WarmupSummary summarise_warmup(const SampleResult& result);

}  // namespace rehmc
