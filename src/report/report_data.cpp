// Collects everything that the page shows of a run and writes it as JSON of bounded size.
#include "report_data.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "bounds.hpp"
#include "page_json.hpp"
#include "parameter_json.hpp"
#include "plots.hpp"
#include "shown_draws.hpp"
#include "shown_parameters.hpp"

namespace rehmc::report {

namespace {

Json draws_json(const ShownDraws& shown) {
  Json chain = Json::array();
  Json draw = Json::array();
  Json divergent = Json::array();
  for (std::size_t i = 0; i < shown.draws.size(); ++i) {
    chain.push_back(shown.draws[i].chain);
    draw.push_back(shown.draws[i].draw);
    if (shown.draws[i].divergent) divergent.push_back(i);
  }
  return {{"regular", shown.regular},
          {"stride", shown.stride},
          {"chain", std::move(chain)},
          {"draw", std::move(draw)},
          {"divergent", std::move(divergent)}};
}

Json energy_json(const std::optional<DensityPair>& density) {
  if (!density) return nullptr;
  return {{"least", number(density->grid.least)},
          {"most", number(density->grid.most)},
          {"marginal", numbers(density->first, 4)},
          {"change", numbers(density->second, 4)}};
}

Json trajectory_json(const TracedTrajectory& trajectory) {
  const std::size_t stride = stride_for(trajectory.states.size(), most_traced);
  Json states = Json::array();
  for (std::size_t i = 0; i < trajectory.states.size(); ++i) {
    const TracedState& state = trajectory.states[i];
    if (i % stride != 0 && i != trajectory.start && !state.selected) continue;
    Json shown{{"x", number(state.x)}, {"y", number(state.y)}, {"weight", number(state.weight, 4)}};
    if (state.slots > 0) shown["slots"] = state.slots;
    if (state.dropped) shown["dropped"] = true;
    if (state.selected) shown["selected"] = true;
    if (i == trajectory.start) shown["start"] = true;
    states.push_back(std::move(shown));
  }
  return {{"length", trajectory.states.size()}, {"states", std::move(states)}};
}

Json diagnostics_json(const Diagnostics& diagnostics) {
  Json warnings = Json::array();
  for (const Warning& warning : diagnostics.warnings) {
    warnings.push_back(
        {{"kind", warning.kind}, {"text", shortened(warning.text, most_text_bytes)}});
  }
  const std::span<const double> ebfmi(diagnostics.ebfmi);
  return {{"divergences", diagnostics.divergences},
          {"depth_limit_hits", diagnostics.depth_limit_hits},
          {"ebfmi", numbers(ebfmi.first(std::min(ebfmi.size(), most_chains)), 3)},
          {"gradients_warmup", diagnostics.gradients_warmup},
          {"gradients_sampling", diagnostics.gradients_sampling},
          {"seconds_warmup", number(diagnostics.seconds_warmup)},
          {"seconds_sampling", number(diagnostics.seconds_sampling)},
          {"warnings", std::move(warnings)}};
}

/// The checks of the gradient; null for a run without gradients.
Json gradients_json(const Sharpening& sharpening) {
  Json json;
  if (sharpening.check) {
    const SteinCheck& check = *sharpening.check;
    json["stein"] = {{"passed", check.passed()},
                     {"worst", number(check.worst, 4)},
                     {"limit", number(check.limit, 4)},
                     {"refuses", check.refuses()},
                     {"refusal_limit", number(check.refusal_limit, 4)},
                     {"features", check.features},
                     {"parameter", shortened(sharpening.worst_name, most_name_bytes)}};
  }
  if (sharpening.spot_check.directions > 0) {
    json["spot"] = {{"passed", sharpening.spot_check.passed},
                    {"where", shortened(sharpening.spot_check.where, most_name_bytes)},
                    {"model", number(sharpening.spot_check.analytic)},
                    {"differences", number(sharpening.spot_check.numeric)}};
  }
  if (!sharpening.refused.empty()) json["refused"] = shortened(sharpening.refused, most_text_bytes);
  return json;
}

/// The story of warmup; null if nothing is known of it.
Json warmup_json(const WarmupSummary& warmup) {
  if (!warmup.known()) return nullptr;
  Json starts = Json::object();
  for (const StartOutcome start : warmup.starts) {
    Json& count = starts[std::string(describe(start))];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  Json stages = Json::array();
  for (const StageStory& stage : warmup.stages) {
    Json tried = Json::array();
    for (const MetricTrial& trial : stage.tried) {
      tried.push_back({trial.estimator, number(trial.loss, 3)});
    }
    stages.push_back({{"iterations", stage.iterations},
                      {"gradients", stage.gradients},
                      {"step_size", number(stage.step_size, 3)},
                      {"before", number(stage.loss_before, 3)},
                      {"loss", number(stage.loss, 3)},
                      {"estimator", stage.estimator},
                      {"tried", std::move(tried)}});
  }
  return {{"starts", std::move(starts)},
          {"groups", warmup.groups},
          {"metric", describe(warmup.metric)},
          {"condition", number(warmup.condition, 2)},
          {"left", number(warmup.condition_left, 2)},
          {"iterations", warmup.iterations},
          {"ended", warmup.ended},
          {"gradients", warmup.gradients},
          {"start", warmup.gradients_start},
          {"check", warmup.gradients_check},
          {"stages", std::move(stages)}};
}

Json predictive_json(const SampleResult& result, const std::vector<PredictiveCheck>& checks) {
  Json json = Json::array();
  for (const PredictiveCheck& check : checks) {
    const auto densities = replicate_densities(result, check);
    if (!densities || json.size() == most_predictive) continue;
    Json replicates = Json::array();
    for (const auto& curve : densities->replicates) replicates.push_back(numbers(curve, 3));
    json.push_back({{"name", shortened(check.name, most_name_bytes)},
                    {"least", number(densities->grid.least)},
                    {"most", number(densities->grid.most)},
                    {"observed", numbers(densities->observed, 3)},
                    {"replicates", std::move(replicates)}});
  }
  return json;
}

/// Leave-one-out; null if the run has none. Of very many observations, the first.
Json loo_json(const std::optional<LooSummary>& summary) {
  if (!summary || !summary->refused.empty()) return nullptr;
  const Loo& loo = summary->loo;
  const std::size_t shown = std::min(loo.points.size(), most_observations);
  Json shapes = Json::array();
  Json names = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    shapes.push_back(number(loo.points[i].shape, 3));
    if (i < summary->names.size()) names.push_back(shortened(summary->names[i], most_name_bytes));
  }
  return {{"elpd", number(loo.elpd)},    {"error", number(loo.error)},
          {"p_loo", number(loo.p_loo)},  {"good", number(loo.good_shape, 3)},
          {"shapes", std::move(shapes)}, {"names", std::move(names)}};
}

Json settings_json(std::span<const ReportSetting> settings) {
  Json pairs = Json::array();
  for (const ReportSetting& each : settings.first(std::min(settings.size(), most_settings))) {
    pairs.push_back({shortened(each.name, most_name_bytes), shortened(each.value, most_value_bytes),
                     shortened(each.standard, most_value_bytes), each.differs});
  }
  return pairs;
}

/// What the page leaves out, as [shown, all]; empty if it shows everything.
Json omissions(const SampleResult& result, const ShownParameters& parameters,
               const ShownDraws& shown, const Diagnostics& diagnostics) {
  Json json = Json::object();
  const auto note = [&](const char* name, std::size_t all, std::size_t kept) {
    if (kept < all) json[name] = {kept, all};
  };
  note("rows", result.names.size(), parameters.rows.size());
  if (!shown.draws.empty()) note("plotted", result.names.size(), parameters.plotted.size());
  note("chains", result.chains.size(), most_chains);
  note("divergences", diagnostics.divergences, shown.divergences);
  return json;
}

/// The rows of the table; those of plotted parameters have the plots' numbers as well.
Json parameters_json(const SampleResult& result, const std::vector<ParameterSummary>& summary,
                     const ShownParameters& parameters, const ShownDraws& shown,
                     std::size_t curve_stride) {
  const std::size_t spark_stride = stride_for(total_draws(result), most_spark_draws);
  Json rows = Json::array();
  for (const std::size_t p : parameters.rows) {
    Json row = table_row(result, summary[p], p, spark_stride);
    row["index"] = p;
    if (std::binary_search(parameters.plotted.begin(), parameters.plotted.end(), p)) {
      add_plots(row, result, summary[p], shown, p, curve_stride);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string report_data(const SampleResult& result, const RunSummary& run, const ReportInfo& info) {
  const std::vector<ParameterSummary>& summary = run.parameters;
  const std::size_t draws = total_draws(result);
  const ShownDraws shown = choose_draws(result);
  const ShownParameters parameters = choose_parameters(result, summary, shown);
  const std::size_t curve_stride = stride_for(draws, most_curve_draws);

  Json json;
  json["version"] = info.version;
  json["date"] = info.date;
  json["command"] = shortened(info.command, most_text_bytes);
  json["seed"] = std::to_string(result.seed);  // JavaScript's numbers would round it
  json["kernel"] = describe(result.kernel.kind);
  json["recycling"] = describe(result.kernel.recycling);
  json["dimension"] = result.names.size();
  json["generated"] = std::count_if(summary.begin(), summary.end(),
                                    [](const ParameterSummary& row) { return row.generated; });
  json["chains"] = result.chains.size();
  json["draws"] = draws;
  json["short"] =
      !summary.empty() && summary[0].convergence.check.condition == DrawsCondition::too_short;
  json["settings"] = settings_json(info.settings);
  json["diagnostics"] = diagnostics_json(run.diagnostics);
  json["warmup"] = warmup_json(run.warmup);
  json["gradients"] = gradients_json(run.sharpening);
  json["omitted"] = omissions(result, parameters, shown, run.diagnostics);
  json["curve_stride"] = curve_stride;
  json["quantum"] = quantum;
  json["points"] = draws_json(shown);
  json["pair"] = parameters.pair;
  json["parameters"] = parameters_json(result, summary, parameters, shown, curve_stride);
  json["predictive"] = predictive_json(result, info.predictive);
  json["loo"] = loo_json(run.loo);
  json["energy"] = energy_json(energy_densities(result, curve_stride));
  json["trajectory"] = trajectory_json(info.trajectory);
  return script_text(json);
}

}  // namespace rehmc::report
