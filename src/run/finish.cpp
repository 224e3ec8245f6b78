// Writes what a run leaves behind.
#include "rehmc/run/finish.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/netcdf.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

Json estimate_json(const Estimate& estimate) {
  Json json;
  json["mean"] = estimate.mean;
  json["mcse_mean"] = estimate.mcse_mean;
  json["ess_mean"] = estimate.ess_mean;
  json["sd"] = estimate.sd;
  json["mcse_sd"] = estimate.mcse_sd;
  json["ess_sd"] = estimate.ess_sd;
  for (const QuantileEstimate& quantile : estimate.quantiles) {
    const std::string q = fmt::format("q{}", 100 * quantile.probability);
    json[q] = quantile.value;
    json["mcse_" + q] = quantile.mcse;
    json["ess_" + q] = quantile.ess;
  }
  return json;
}

}  // namespace

void cut_to_shortest(SampleResult& result) {
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const ChainResult& chain : result.chains) shortest = std::min(shortest, chain.record.size());
  for (ChainResult& chain : result.chains) chain.record.truncate(shortest);
}

RunSummary summarise_run(const SampleResult& result) {
  RunSummary summary;
  summary.parameters = summarise(result);
  summary.diagnostics = diagnose(result, summary.parameters);
  summary.draws = result.chains.front().record.size();
  return summary;
}

std::string summary_json(const RunSummary& summary, const std::string& model, std::uint64_t seed) {
  Json json;
  json["format"] = "rehmc summary";
  json["format_version"] = 1;
  json["model"] = model;
  json["seed"] = seed;
  json["chains"] = summary.diagnostics.ebfmi.size();
  json["draws"] = summary.draws;
  Json& parameters = json["parameters"] = Json::array();
  for (const ParameterSummary& row : summary.parameters) {
    Json parameter;
    parameter["name"] = row.name;
    Json& plain = parameter["plain"] = estimate_json(row.plain);
    plain["rhat"] = row.convergence.rhat;
    plain["ess_bulk"] = row.convergence.ess_bulk;
    plain["ess_tail"] = row.convergence.ess_tail;
    if (row.recycled) parameter["recycled"] = estimate_json(*row.recycled);
    parameters.push_back(std::move(parameter));
  }
  const Diagnostics& diagnostics = summary.diagnostics;
  Json& d = json["diagnostics"];
  d["divergences"] = diagnostics.divergences;
  d["depth_limit_hits"] = diagnostics.depth_limit_hits;
  d["ebfmi"] = diagnostics.ebfmi;
  d["gradients_warmup"] = diagnostics.gradients_warmup;
  d["gradients_sampling"] = diagnostics.gradients_sampling;
  d["seconds_warmup"] = diagnostics.seconds_warmup;
  d["seconds_sampling"] = diagnostics.seconds_sampling;
  Json& warnings = d["warnings"] = Json::array();
  for (const Warning& warning : diagnostics.warnings) {
    warnings.push_back({{"kind", warning.kind}, {"text", warning.text}});
  }
  return json.dump(2) + "\n";
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
  write_whole(folder.report(), report_page(result, summary.parameters, summary.diagnostics, info));
}

RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density) {
  cut_to_shortest(result);
  const RunSummary summary = summarise_run(result);
  write_whole(folder.summary(), summary_json(summary, manifest.model.name, manifest.seed));

  NetcdfInfo info;
  info.version = manifest.version;
  info.created = manifest.created;
  info.settings_json = settings_json(manifest.settings);
  info.thin = static_cast<std::size_t>(manifest.settings.thin);
  write_netcdf(folder.netcdf(), result, info);

  if (density != nullptr && density->dimension() >= 2) {
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
