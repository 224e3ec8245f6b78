// Samples, summarises and sharpens one run.
#include "run_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rehmc/output/foreign_draws.hpp"

namespace rehmc::bench {

namespace {

/// What is left of a run if its sampler knows draws and divergences only.
SampleResult as_foreign(const SampleResult& result) {
  std::vector<std::vector<double>> gradients;
  std::vector<ForeignChain> chains;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    gradients.emplace_back(record.kept_gradient.begin(), record.kept_gradient.end());
    std::vector<bool> diverging;
    for (const Ending ending : record.ending) diverging.push_back(ending == Ending::diverged);
    chains.push_back({record.draws, gradients.back(), record.log_density, std::move(diverging)});
  }
  return from_draws(result.names, chains);
}

std::array<Value, summaries> values_of(const Estimate& estimate) {
  std::array<Value, summaries> values;
  values[0] = {estimate.mean, estimate.mcse_mean, estimate.degrees_mean};
  values[1] = {estimate.sd, estimate.mcse_sd, estimate.degrees_sd};
  for (std::size_t q = 0; q < estimate.quantiles.size(); ++q) {
    values[2 + q] = {estimate.quantiles[q].value, estimate.quantiles[q].mcse,
                     estimate.quantiles[q].degrees};
  }
  return values;
}

}  // namespace

std::string summary_name(std::size_t summary) {
  if (summary == 0) return "mean";
  if (summary == 1) return "sd";
  return fmt::format("q{}", 100 * standard_probabilities[summary - 2]);
}

SampleResult sample_once(const Density& density, std::uint64_t seed, int draws, Sampler sampler) {
  SampleSettings settings;
  settings.draws = draws;
  settings.threads = 1;
  settings.seed = seed;
  if (sampler == Sampler::rehmc) return sample(density, settings);
  settings.kernel.recycling = parse_recycling("none");
  settings.warmup.schedule = WarmupSchedule::stan;
  return as_foreign(sample(density, settings));
}

SampleResult first_draws(const SampleResult& result, std::size_t draws) {
  SampleResult first = result;
  for (ChainResult& chain : first.chains) chain.record.truncate(draws);
  return first;
}

RunOutcome outcome_of(const SampleResult& result) {
  std::vector<ParameterSummary> rows = summarise(result);
  const Sharpening sharpening = sharpen_run(result, rows);
  return outcome_of(result, rows, sharpening);
}

RunOutcome outcome_of(const SampleResult& result, const std::vector<ParameterSummary>& rows,
                      const Sharpening& sharpening) {
  RunOutcome outcome;
  outcome.draws = result.chains.front().record.size();
  outcome.passed = !sharpening.check || sharpening.check->passed();
  for (const ParameterSummary& row : rows) {
    Outcome& one = outcome.parameters.emplace_back();
    one.plain = values_of(row.plain);
    one.recycled = row.recycled ? values_of(*row.recycled) : one.plain;
    one.sharp = row.sharpened.has_value();
    one.sharpened = one.sharp ? values_of(row.sharpened->estimate) : one.recycled;
    if (!one.sharp) continue;
    one.mean_tail_seen = row.sharpened->mean_tail_seen;
    one.sd_tail_seen = row.sharpened->sd_tail_seen;
    one.sets[0] = row.sharpened->mean_set;
    one.sets[1] = row.sharpened->sd_set;
    std::copy(row.sharpened->quantile_sets.begin(), row.sharpened->quantile_sets.end(),
              one.sets.begin() + 2);
  }
  return outcome;
}

}  // namespace rehmc::bench
