// Says where chains started, which metric was chosen and why, what it cost and why it ended.
#include "warmup_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "table.hpp"
#include "terminal.hpp"

namespace rehmc::cli {

namespace {

std::string starts_text(const std::vector<StartOutcome>& starts) {
  constexpr std::array<std::pair<StartOutcome, std::string_view>, 4> kinds{
      {{StartOutcome::pathfinder, "started by Pathfinder"},
       {StartOutcome::pathfinder_no_help, "started at random, where Pathfinder did not help"},
       {StartOutcome::random, "started at random"},
       {StartOutcome::given, "started at given points"}}};
  std::string text;
  for (const auto& [kind, words] : kinds) {
    const auto count = std::ranges::count(starts, kind);
    if (count == 0) continue;
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", count,
                        count == 1 ? "chain" : "chains", words);
  }
  return text;
}

/// As many digits as power iteration is right to.
std::string condition_text(double condition) { return brief(condition, 2); }

std::string metric_text(const WarmupSummary& warmup) {
  std::string text = fmt::format("metric {}", describe(warmup.metric));
  if (const StageStory* const stage = warmup.deciding_stage()) {
    std::string others;
    for (const MetricTrial& trial : stage->tried) {
      if (trial.estimator == stage->estimator) continue;
      others +=
          fmt::format("{}{} {}", others.empty() ? "" : ", ", trial.estimator, brief(trial.loss, 2));
    }
    text += fmt::format(" ({}, mapping loss {}{})", stage->estimator, brief(stage->loss, 2),
                        others.empty() ? "" : "; " + others);
  }
  if (warmup.path_length > 0) text += fmt::format("; path length {}", brief(warmup.path_length, 3));
  if (std::isnan(warmup.condition)) return text;
  text += fmt::format("; condition number {}", condition_text(warmup.condition));
  if (std::isnan(warmup.condition_left)) return text;
  return text + fmt::format(", with the metric {}", condition_text(warmup.condition_left));
}

std::string gradients_text(const WarmupSummary& warmup) {
  std::string text = grouped(warmup.gradients) + " gradients";
  std::string stages;
  for (const StageStory& stage : warmup.stages) {
    stages += (stages.empty() ? "" : " + ") + grouped(stage.gradients);
  }
  if (warmup.gradients_start > 0 || !stages.empty()) {
    text += fmt::format(" (starts {}{})", grouped(warmup.gradients_start),
                        stages.empty() ? "" : "; stages " + stages);
  }
  return text;
}

}  // namespace

std::string warmup_text(const WarmupSummary& warmup) {
  if (!warmup.known()) return {};
  return wrapped(
      fmt::format("Warmup: {}; {}.\n"
                  "        {}, {} to check the gradient; ended after {} iterations: {}{}.\n",
                  starts_text(warmup.starts), metric_text(warmup), gradients_text(warmup),
                  grouped(warmup.gradients_check), grouped(warmup.iterations), warmup.ended,
                  warmup.groups > 1
                      ? fmt::format("; stages are those of the first of {} groups", warmup.groups)
                      : ""),
      8);
}

}  // namespace rehmc::cli
