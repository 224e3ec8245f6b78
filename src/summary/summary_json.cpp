// Writes the summary of a run as JSON.
#include "rehmc/summary/summary_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

/// Texts come from files and from exceptions of models.
constexpr auto replace = Json::error_handler_t::replace;

Json estimate_json(const Estimate& estimate, const std::vector<double>& bounds) {
  Json json;
  // Sums of many coordinates leave them unknown.
  const bool degrees = bounds.empty();
  json["mean"] = estimate.mean;
  json["mcse_mean"] = estimate.mcse_mean;
  if (degrees) json["degrees_mean"] = estimate.degrees_mean;
  json["ess_mean"] = estimate.ess_mean;
  json["sd"] = estimate.sd;
  json["mcse_sd"] = estimate.mcse_sd;
  if (degrees) json["degrees_sd"] = estimate.degrees_sd;
  json["ess_sd"] = estimate.ess_sd;
  for (std::size_t i = 0; i < estimate.quantiles.size(); ++i) {
    const QuantileEstimate& quantile = estimate.quantiles[i];
    const std::string q = fmt::format("q{}", 100 * quantile.probability);
    json[q] = quantile.value;
    json["mcse_" + q] = quantile.mcse;
    if (degrees) json["degrees_" + q] = quantile.degrees;
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

Json loo_json(const LooSummary& summary) {
  if (!summary.refused.empty()) return {{"refused", summary.refused}};
  const Loo& loo = summary.loo;
  Json points = Json::array();
  for (std::size_t i = 0; i < loo.points.size(); ++i) {
    points.push_back({{"name", summary.names[i]},
                      {"elpd", loo.points[i].elpd},
                      {"pareto_k", loo.points[i].shape}});
  }
  return {{"elpd", loo.elpd},
          {"se_elpd", loo.error},
          {"p_loo", loo.p_loo},
          {"good_k", loo.good_shape},
          {"worst_k", loo.worst_shape()},
          {"unreliable", loo.unreliable()},
          {"relative_efficiency", loo.relative_efficiency},
          {"observations", std::move(points)}};
}

Json check_json(const Sharpening& sharpening) {
  const SteinCheck& check = *sharpening.check;
  return {{"passed", check.passed()},
          {"worst_z", check.worst},
          {"worst_parameter", sharpening.worst_name},
          {"limit", check.limit},
          {"refuses", check.refuses()},
          {"refusal_limit", check.refusal_limit},
          {"features", check.features},
          {"false_alarm_rate", SteinCheck::false_alarm_rate},
          {"false_refusal_rate", SteinCheck::false_refusal_rate}};
}

Json stage_json(const StageStory& stage) {
  Json json;
  json["iterations"] = stage.iterations;
  json["gradients"] = stage.gradients;
  json["step_size"] = stage.step_size;
  json["loss_before"] = stage.loss_before;
  json["loss"] = stage.loss;
  json["estimator"] = stage.estimator.empty() ? "kept" : stage.estimator;
  Json& tried = json["tried"] = Json::object();
  for (const MetricTrial& trial : stage.tried) tried[trial.estimator] = trial.loss;
  return json;
}

Json warmup_json(const WarmupSummary& warmup) {
  Json json;
  Json& starts = json["starts"] = Json::array();
  for (const StartOutcome start : warmup.starts) starts.push_back(describe(start));
  json["groups"] = warmup.groups;
  json["metric"] = describe(warmup.metric);
  json["condition"] = warmup.condition;
  json["condition_left"] = warmup.condition_left;
  json["iterations"] = warmup.iterations;
  json["ended"] = warmup.ended;
  json["gradients_start"] = warmup.gradients_start;
  json["gradients_path"] = warmup.gradients_path;
  json["path_length"] = warmup.path_length > 0 ? Json(warmup.path_length) : Json();
  json["gradients_check"] = warmup.gradients_check;
  Json& stages = json["stages"] = Json::array();
  for (const StageStory& stage : warmup.stages) stages.push_back(stage_json(stage));
  return json;
}

}  // namespace

std::string summary_json(const RunSummary& summary, const std::string& model, std::uint64_t seed) {
  const Diagnostics& diagnostics = summary.diagnostics;
  Json head;
  head["format"] = "rehmc summary";
  head["format_version"] = 1;
  head["model"] = model;
  head["seed"] = seed;
  head["chains"] = diagnostics.ebfmi.size();
  head["draws"] = summary.draws;
  head["errors_from"] = summary.from_chunks ? "batch means" : "draws";
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
  if (summary.warmup.known()) head["warmup"] = warmup_json(summary.warmup);
  if (summary.loo) head["loo"] = loo_json(*summary.loo);
  // Parameters are written one by one: a tree of all of them would take more memory than the run.
  std::string text = head.dump(2, ' ', false, replace);
  text.erase(text.rfind("\n}"));
  text += ",\n  \"parameters\": [";
  const char* separator = "\n    ";
  std::size_t written = 0;
  for (const ParameterSummary& row : summary.parameters) {
    Json parameter;
    parameter["name"] = row.name;
    Json& plain = parameter["plain"] = estimate_json(row.plain, row.plain_bounds);
    plain["rhat"] = row.convergence.rhat;
    const Json nothing;
    plain["ess_bulk"] = summary.from_chunks ? nothing : Json(row.convergence.ess_bulk);
    plain["ess_tail"] = summary.from_chunks ? nothing : Json(row.convergence.ess_tail);
    if (row.recycled) {
      parameter["recycled"] = estimate_json(*row.recycled, row.recycled_bounds);
    }
    if (row.sharpened) {
      parameter["sharpened"] = sharpened_json(*row.sharpened, row.recycled_bounds);
    } else if (!row.not_sharpened.empty()) {
      parameter["not_sharpened"] = row.not_sharpened;
    }
    text += separator + parameter.dump(-1, ' ', false, replace);
    separator = ",\n    ";
    // From what the first ones take, since a text that grows by doubling takes twice its size.
    constexpr std::size_t some = 100;
    if (++written == some) text.reserve(text.size() / some * (summary.parameters.size() + some));
  }
  return text + "\n  ]\n}\n";
}

}  // namespace rehmc
