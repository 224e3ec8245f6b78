// Summarises a run from its draws, or from running sums where none were stored.
#include "rehmc/summary/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "rehmc/core/stan_name.hpp"
#include "rehmc/running/running_estimate.hpp"

namespace rehmc {

namespace {

std::string stein_warning(const SteinCheck& check, const std::string& name) {
  const std::string found = fmt::format(
      "the Stein check failed: averages that must be 0 are off by up to {:.1f} standard errors "
      "({}; limit {:.1f})",
      check.worst, name, check.limit);
  constexpr const char* causes =
      "the chains have not converged, or the gradient is not that of the density, or the density "
      "has jumps";
  if (check.refuses()) {
    return fmt::format(
        "{}, too far for chance (limit {:.1f}): {}. Take more warmup and draws; "
        "check the model for hard bounds and rejections.",
        found, check.refusal_limit, causes);
  }
  return fmt::format(
      "{}. One healthy run in a thousand is as far off by chance, and sharpening "
      "then corrects it; otherwise {}. Take four times as many draws: chance does "
      "not grow, a fault of the model doubles.",
      found, causes);
}

/// Warnings that come from the gradients.
void warn_of_gradients(RunSummary& summary) {
  std::vector<Warning>& warnings = summary.diagnostics.warnings;
  const Sharpening& sharpening = summary.sharpening;
  if (!sharpening.spot_check.passed) {
    warnings.push_back(
        {"gradient",
         fmt::format("the gradient is not that of the log density: along {} the model returns "
                     "{:.6g}, but finite differences of its log density give {:.6g}. Find the "
                     "error with rehmc check-gradient; nothing is sharpened until it is fixed.",
                     sharpening.spot_check.where, sharpening.spot_check.analytic,
                     sharpening.spot_check.numeric)});
  }
  if (sharpening.check && !sharpening.check->passed()) {
    warnings.push_back({"stein_check", stein_warning(*sharpening.check, sharpening.worst_name)});
  }
  std::vector<std::string> heavy;
  for (const ParameterSummary& row : summary.parameters) {
    if (row.sharpened && (!row.sharpened->mean_tail_seen || !row.sharpened->sd_tail_seen)) {
      heavy.push_back(row.name);
    }
  }
  if (!heavy.empty()) {
    warnings.push_back(
        {"heavy_tails",
         fmt::format(
             "the tails of {} may hold more than this run has seen: judging by gradients at "
             "its extremes, most of the squared error of {} is for events beyond them. "
             "Take more draws, or use quantiles, whose error bars do not depend on that.",
             listed(heavy), heavy.size() == 1 ? "its sd (or mean)" : "the sds (or means)")});
  }
}

/// From chunks and bins, as no draws were stored.
RunSummary summarise_running(const SampleResult& result, bool sharpen) {
  RunSummary summary;
  summary.warmup = summarise_warmup(result);
  summary.from_chunks = true;
  summary.draws = std::numeric_limits<std::size_t>::max();
  std::vector<const RunningSummary*> chains;
  Diagnostics& diagnostics = summary.diagnostics;
  RunSize size{result.chains.size(), 0, result.kernel.nuts.max_depth,
               draws_fresh_momenta(result.kernel)};
  for (const ChainResult& chain : result.chains) {
    const RunningCounts& counts = chain.running->counts();
    chains.push_back(&chain.running->summary());
    summary.draws = std::min<std::size_t>(summary.draws, counts.draws);
    size.draws += counts.draws;
    diagnostics.divergences += counts.divergences;
    diagnostics.depth_limit_hits += counts.depth_limit_hits;
    diagnostics.ebfmi.push_back(counts.ebfmi());
    diagnostics.gradients_warmup += chain.gradients_warmup;
    diagnostics.gradients_sampling += chain.gradients_sampling;
    diagnostics.quantity_failures += chain.quantity_failures;
    diagnostics.seconds_warmup += chain.seconds_warmup;
    diagnostics.seconds_sampling += chain.seconds_sampling;
  }
  summary.parameters.reserve(result.names.size());
  for (std::size_t p = 0; p < result.names.size(); ++p) {
    RunningEstimate estimate = running_estimate(chains, p);
    ParameterSummary& row = summary.parameters.emplace_back();
    row.name = stan_name(result.names[p]);
    row.generated = p < result.quantities.size() && result.quantities[p].generated;
    row.convergence.rhat = estimate.rhat;
    row.convergence.ess_bulk = estimate.plain.ess_mean;
    row.convergence.ess_tail = std::numeric_limits<double>::quiet_NaN();
    row.convergence.ess_within = estimate.ess_within;
    row.convergence.degrees_within = estimate.degrees_within;
    row.convergence.check.condition = estimate.plain.condition;
    row.plain = std::move(estimate.plain);
    row.plain_bounds = std::move(estimate.plain_bounds);
    if (!result.recycles(p)) continue;
    row.recycled = std::move(estimate.recycled);
    row.recycled_bounds = std::move(estimate.recycled_bounds);
    if (sharpen) row.sharpened = std::move(estimate.sharpened);
  }
  summary.sharpening = sharpen_run(result, summary.parameters, !sharpen);
  warn_of_warmup(result, diagnostics);
  add_warnings(diagnostics, size, summary.parameters);
  warn_of_gradients(summary);
  return summary;
}

}  // namespace

void cut_to_shortest(SampleResult& result) {
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const ChainResult& chain : result.chains) shortest = std::min(shortest, chain.record.size());
  for (ChainResult& chain : result.chains) chain.record.truncate(shortest);
}

RunSummary summarise_run(const SampleResult& result, bool sharpen) {
  if (result.chains.front().running) return summarise_running(result, sharpen);
  RunEstimates estimates;
  estimates.parameters = summarise(result);
  estimates.sharpening = sharpen_run(result, estimates.parameters, !sharpen);
  return summarise_run(result, std::move(estimates));
}

RunSummary summarise_run(const SampleResult& result, RunEstimates estimates) {
  RunSummary summary;
  summary.warmup = summarise_warmup(result);
  summary.parameters = std::move(estimates.parameters);
  summary.sharpening = std::move(estimates.sharpening);
  summary.diagnostics = diagnose(result, summary.parameters);
  warn_of_gradients(summary);
  summary.draws = result.chains.front().record.size();
  return summary;
}

}  // namespace rehmc
