// Adds up the stories of all chains.
#include "rehmc/summary/warmup_summary.hpp"

#include <algorithm>
#include <cmath>

#include "rehmc/adapt/warmup_group.hpp"

namespace rehmc {

const StageStory* WarmupSummary::deciding_stage() const {
  const auto last = std::find_if(stages.rbegin(), stages.rend(),
                                 [](const StageStory& stage) { return !stage.estimator.empty(); });
  return last == stages.rend() ? nullptr : &*last;
}

WarmupSummary summarise_warmup(const SampleResult& result) {
  WarmupSummary summary;
  const auto told = [](const ChainResult& chain) { return !chain.story.ended.empty(); };
  if (!std::ranges::all_of(result.chains, told)) return summary;
  const ChainResult& first = result.chains.front();
  summary.metric = first.tuning.metric->kind();
  summary.iterations = first.warmup_iterations;
  summary.stages = first.story.stages;
  summary.ended = first.story.ended;
  for (StageStory& stage : summary.stages) stage.gradients = 0;
  if (!summary.stages.empty()) {
    summary.groups = (result.chains.size() + most_chains_of_group - 1) / most_chains_of_group;
  }
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainResult& chain = result.chains[c];
    summary.starts.push_back(chain.story.start);
    // fmax() ignores what is unknown.
    summary.condition = std::fmax(summary.condition, chain.story.condition);
    summary.condition_left = std::fmax(summary.condition_left, chain.story.condition_left);
    summary.gradients += chain.gradients_warmup;
    summary.gradients_start += chain.gradients_start;
    summary.path_length += chain.story.path_length / static_cast<double>(result.chains.size());
    summary.gradients_path += chain.story.gradients_path;
    summary.gradients_check += chain.spot_check.evaluations;
    if (c >= most_chains_of_group) continue;
    // Of a file that was edited, chains may tell of different stages.
    const std::size_t stages = std::min(summary.stages.size(), chain.story.stages.size());
    for (std::size_t s = 0; s < stages; ++s) {
      summary.stages[s].gradients += chain.story.stages[s].gradients;
    }
  }
  return summary;
}

}  // namespace rehmc
