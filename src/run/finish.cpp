// Writes what a run leaves behind.
#include "rehmc/run/finish.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/netcdf.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

Json estimate_json(const Estimate& estimate, const std::vector<double>& bounds) {
  Json json;
  json["mean"] = estimate.mean;
  json["mcse_mean"] = estimate.mcse_mean;
  json["ess_mean"] = estimate.ess_mean;
  json["sd"] = estimate.sd;
  json["mcse_sd"] = estimate.mcse_sd;
  json["ess_sd"] = estimate.ess_sd;
  for (std::size_t i = 0; i < estimate.quantiles.size(); ++i) {
    const QuantileEstimate& quantile = estimate.quantiles[i];
    const std::string q = fmt::format("q{}", 100 * quantile.probability);
    json[q] = quantile.value;
    json["mcse_" + q] = quantile.mcse;
    json["ess_" + q] = quantile.ess;
    if (!bounds.empty()) json["bin_error_" + q] = bounds[i];
  }
  return json;
}

Json sharpened_json(const SharpenedEstimate& sharpened, const std::vector<double>& bounds) {
  Json json = estimate_json(sharpened.estimate, bounds);
  Json& sets = json["features"];
  sets["mean"] = describe(sharpened.mean_set);
  sets["sd"] = describe(sharpened.sd_set);
  for (std::size_t i = 0; i < sharpened.quantile_sets.size(); ++i) {
    sets[fmt::format("q{}", 100 * sharpened.estimate.quantiles[i].probability)] =
        describe(sharpened.quantile_sets[i]);
  }
  return json;
}

Json check_json(const Sharpening& sharpening) {
  const SteinCheck& check = *sharpening.check;
  return {{"passed", check.passed()},
          {"worst_z", check.worst},
          {"worst_parameter", sharpening.worst_name},
          {"limit", check.limit},
          {"features", check.features},
          {"false_alarm_rate", SteinCheck::false_alarm_rate}};
}

/// What the gradients tell about the run.
void warn_of_gradients(RunSummary& summary) {
  std::vector<Warning>& warnings = summary.diagnostics.warnings;
  const Sharpening& sharpening = summary.sharpening;
  if (!sharpening.spot_check.passed) {
    warnings.push_back(
        {"gradient",
         fmt::format("the gradient is not that of the log density: along {} the model says {:.6g}, "
                     "differences of its log density say {:.6g}. Look for the error with rehmc "
                     "check-gradient; until then nothing is sharpened.",
                     sharpening.spot_check.where, sharpening.spot_check.analytic,
                     sharpening.spot_check.numeric)});
  }
  if (sharpening.check && !sharpening.check->passed()) {
    warnings.push_back(
        {"stein_check",
         fmt::format("the Stein check failed: averages that must be 0 are off by up to {:.1f} "
                     "standard errors ({}; limit {:.1f}). The chains have not converged, or the "
                     "gradient is not that of the density, or the density has jumps. Take more "
                     "warmup and draws; check the model for hard bounds and rejections.",
                     sharpening.check->worst, sharpening.worst_name, sharpening.check->limit)});
  }
  std::vector<std::string> heavy;
  for (const ParameterSummary& row : summary.parameters) {
    if (row.sharpened && (!row.sharpened->mean_has_error || !row.sharpened->sd_has_error)) {
      heavy.push_back(row.name);
    }
  }
  if (!heavy.empty()) {
    warnings.push_back(
        {"heavy_tails",
         fmt::format(
             "the tails of {} are so heavy that {} may have no finite Monte Carlo error: do "
             "not rely on its error bar; quantiles have one.",
             listed(heavy), heavy.size() == 1 ? "its sd (or mean)" : "the sd (or mean)")});
  }
}

/// From batches and bins, as no draws were stored.
RunSummary summarise_running(const SampleResult& result, bool sharpen) {
  RunSummary summary;
  summary.from_batches = true;
  summary.draws = std::numeric_limits<std::size_t>::max();
  std::vector<const RunningSummary*> chains;
  Diagnostics& diagnostics = summary.diagnostics;
  RunSize size{result.chains.size(), 0, result.kernel.nuts.max_depth};
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
  for (std::size_t p = 0; p < result.names.size(); ++p) {
    RunningEstimate estimate = running_estimate(chains, p);
    ParameterSummary& row = summary.parameters.emplace_back();
    row.name = result.names[p];
    row.convergence.rhat = estimate.rhat;
    row.convergence.ess_bulk = estimate.plain.ess_mean;
    row.convergence.ess_tail = std::numeric_limits<double>::quiet_NaN();
    row.convergence.check.condition = estimate.plain.condition;
    row.plain = std::move(estimate.plain);
    row.plain_bounds = std::move(estimate.plain_bounds);
    if (!result.recycles(p)) continue;
    row.recycled = std::move(estimate.recycled);
    row.recycled_bounds = std::move(estimate.recycled_bounds);
    if (sharpen) row.sharpened = std::move(estimate.sharpened);
  }
  summary.sharpening = sharpen_run(result, summary.parameters, !sharpen);
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
  RunSummary summary;
  summary.parameters = summarise(result);
  summary.sharpening = sharpen_run(result, summary.parameters, !sharpen);
  summary.diagnostics = diagnose(result, summary.parameters);
  warn_of_gradients(summary);
  summary.draws = result.chains.front().record.size();
  return summary;
}

std::string summary_json(const RunSummary& summary, const std::string& model, std::uint64_t seed) {
  const Diagnostics& diagnostics = summary.diagnostics;
  Json head;
  head["format"] = "rehmc summary";
  head["format_version"] = 1;
  head["model"] = model;
  head["seed"] = seed;
  head["chains"] = diagnostics.ebfmi.size();
  head["draws"] = summary.draws;
  head["errors_from"] = summary.from_batches ? "batch means" : "draws";
  if (summary.sharpening.check) head["stein_check"] = check_json(summary.sharpening);
  if (!summary.sharpening.refused.empty()) head["not_sharpened"] = summary.sharpening.refused;
  Json& d = head["diagnostics"];
  d["divergences"] = diagnostics.divergences;
  d["depth_limit_hits"] = diagnostics.depth_limit_hits;
  d["ebfmi"] = diagnostics.ebfmi;
  d["gradients_warmup"] = diagnostics.gradients_warmup;
  d["gradients_sampling"] = diagnostics.gradients_sampling;
  d["quantity_failures_draws"] = diagnostics.quantity_failures.draws;
  d["quantity_failures_kept"] = diagnostics.quantity_failures.kept;
  d["seconds_warmup"] = diagnostics.seconds_warmup;
  d["seconds_sampling"] = diagnostics.seconds_sampling;
  Json& warnings = d["warnings"] = Json::array();
  for (const Warning& warning : diagnostics.warnings) {
    warnings.push_back({{"kind", warning.kind}, {"text", warning.text}});
  }
  // Parameters are written one by one: a tree of all of them would take more memory than the run.
  std::string text = head.dump(2);
  text.erase(text.rfind("\n}"));
  text += ",\n  \"parameters\": [";
  const char* separator = "\n    ";
  for (const ParameterSummary& row : summary.parameters) {
    Json parameter;
    parameter["name"] = row.name;
    Json& plain = parameter["plain"] = estimate_json(row.plain, row.plain_bounds);
    plain["rhat"] = row.convergence.rhat;
    const Json nothing;
    plain["ess_bulk"] = summary.from_batches ? nothing : Json(row.convergence.ess_bulk);
    plain["ess_tail"] = summary.from_batches ? nothing : Json(row.convergence.ess_tail);
    if (row.recycled) {
      parameter["recycled"] = estimate_json(*row.recycled, row.recycled_bounds);
    }
    if (row.sharpened) {
      parameter["sharpened"] = sharpened_json(*row.sharpened, row.recycled_bounds);
    } else if (!row.not_sharpened.empty()) {
      parameter["not_sharpened"] = row.not_sharpened;
    }
    text += separator + parameter.dump();
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

void write_trajectory(const RunFolder& folder, const TracedTrajectory& trajectory) {
  Json json;
  json["start"] = trajectory.start;
  Json& states = json["states"] = Json::array();
  for (const TracedState& state : trajectory.states) {
    states.push_back({{"x", state.x},
                      {"y", state.y},
                      {"weight", state.weight},
                      {"slots", state.slots},
                      {"dropped", state.dropped},
                      {"selected", state.selected}});
  }
  write_whole(folder.trajectory(), json.dump() + "\n");
}

TracedTrajectory read_trajectory(const RunFolder& folder) {
  TracedTrajectory trajectory;
  if (!std::filesystem::exists(folder.trajectory())) return trajectory;
  try {
    const Json json = Json::parse(read_file(folder.trajectory()));
    json.at("start").get_to(trajectory.start);
    for (const Json& stored : json.at("states")) {
      trajectory.states.push_back({stored.at("x"), stored.at("y"), stored.at("weight"),
                                   stored.at("slots"), stored.at("dropped"),
                                   stored.at("selected")});
    }
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: is damaged: {}", folder.trajectory().string(), error.what()));
  }
  return trajectory;
}

void write_report(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                  const RunSummary& summary) {
  ReportInfo info;
  info.title = manifest.model.name;
  info.version = manifest.version;
  info.date = manifest.created;
  info.command =
      fmt::format("rehmc sample {}{} --seed {}", manifest.model.name,
                  std::filesystem::exists(folder.data()) ? " --data data.json" : "", manifest.seed);
  info.settings_json = settings_json(manifest.settings);
  info.trajectory = read_trajectory(folder);
  write_whole(folder.report(), report_page(result, summary, info));
}

RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density) {
  cut_to_shortest(result);
  RunSummary summary = summarise_run(result, manifest.settings.sample.sharpen);
  write_whole(folder.summary(), summary_json(summary, manifest.model.name, manifest.seed));

  NetcdfInfo info;
  info.version = manifest.version;
  info.created = manifest.created;
  info.settings_json = settings_json(manifest.settings);
  info.thin = static_cast<std::size_t>(manifest.settings.thin);
  if (!summary.from_batches) write_netcdf(folder.netcdf(), result, info);

  // Other quantities than the coordinates are no place to start from.
  if (density != nullptr && density->dimension() >= 2 && density->reads_coordinates()) {
    const ChainRecord& record = result.chains.front().record;
    if (record.dimension() == density->dimension() && record.size() > 0) {
      write_trajectory(folder, trace_trajectory(*density, manifest.settings.sample.kernel,
                                                result.chains.front().tuning, {manifest.seed, 0, 0},
                                                record.draw(record.size() - 1)));
    }
  }
  write_report(folder, manifest, result, summary);
  return summary;
}

}  // namespace rehmc
