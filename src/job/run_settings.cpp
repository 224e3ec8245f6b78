// Settings as JSON, choices by name, and patterns of parameter names.
#include "rehmc/job/run_settings.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/job/until.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

template <class Kind>
using Choice = std::pair<std::string_view, Kind>;

constexpr std::array<Choice<MetricKind>, 3> metrics{
    {{"diag", MetricKind::diagonal}, {"dense", MetricKind::dense}, {"unit", MetricKind::unit}}};
constexpr std::array<Choice<MetricSource>, 2> metric_sources{
    {{"recycled", MetricSource::recycled}, {"draws", MetricSource::draws}}};

template <class Choices>
auto parse(std::string_view setting, std::string_view name, const Choices& choices) {
  std::string known;
  for (const auto& [text, kind] : choices) {
    if (text == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw ConfigError(fmt::format("{}: found '{}', expected one of {}", setting, name, known));
}

template <class Choices, class Kind>
std::string_view name_of(const Choices& choices, Kind kind) {
  for (const auto& [text, k] : choices) {
    if (k == kind) return text;
  }
  return "unknown";
}

bool fits(const std::string& pattern, const std::string& name) {
  const auto matches = [&](const std::string& p) {
    return fnmatch(p.c_str(), name.c_str(), 0) == 0;
  };
  return matches(pattern) || matches(pattern + ".*");
}

/// Marks the names that any of the patterns fits.
std::vector<bool> fitted(const std::vector<std::string>& names, std::string_view setting,
                         const std::vector<std::string>& patterns) {
  std::vector<bool> marks(names.size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!fits(pattern, names[i])) continue;
      marks[i] = any = true;
    }
    if (any) continue;
    std::string some = names.front();
    for (std::size_t i = 1; i < std::min<std::size_t>(names.size(), 5); ++i)
      some += ", " + names[i];
    throw ConfigError(fmt::format("{}: '{}' fits no parameter; the model has {}{}", setting,
                                  pattern, some, names.size() > 5 ? ", ..." : ""));
  }
  return marks;
}

}  // namespace

MetricKind parse_metric(std::string_view name) { return parse("metric", name, metrics); }
MetricSource parse_metric_source(std::string_view name) {
  return parse("metric-from", name, metric_sources);
}

void RunSettings::check() const {
  sample.check();
  check_settings(*this);
  if (!until.empty()) parse_until(until);
  if (!store_draws && !until.empty()) {
    throw ConfigError("until: needs the draws to judge by; leave out --no-draws, or --until");
  }
  if (!store_draws && save_warmup) {
    throw ConfigError("save-warmup: there is nothing to save with --no-draws");
  }
  if (!store_draws && sample.kernel.masses_differ()) {
    throw ConfigError(
        "weight-by-steps: running summaries weigh all draws alike; leave out --no-draws");
  }
}

std::string settings_json(const RunSettings& settings) {
  RunSettings copy = settings;
  Json json;
  json["kernel"] = describe(copy.sample.kernel.kind);
  json["recycle"] = describe(copy.sample.kernel.recycling);
  json["metric"] = name_of(metrics, copy.sample.warmup.metric);
  json["metric_from"] = name_of(metric_sources, copy.sample.warmup.metric_from);
  json["engine"] = describe(copy.sample.engine);
  json["save_warmup"] = copy.save_warmup;
  json["store_draws"] = copy.store_draws;
  json["sharpen"] = copy.sample.sharpen;
  json["recycle_generated"] = copy.sample.recycle_generated;
  json["store_gradients"] = copy.store_gradients;
  json["save"] = copy.save;
  json["drop"] = copy.drop;
  json["until"] = copy.until;
  for_each_setting(copy, [&](std::string_view group, const auto& setting, auto& owner) {
    json[std::string(group)][std::string(setting.name)] = owner.*(setting.field);
  });
  json["start"] = copy.sample.start;
  if (const auto& metric = copy.sample.warmup.initial_metric) {
    json["initial_metric"] = {{"kind", static_cast<int>(metric->kind())},
                              {"dimension", metric->dimension()},
                              {"numbers", metric->numbers()}};
  }
  return json.dump();
}

RunSettings settings_from_json(std::string_view json_text) {
  RunSettings settings;
  try {
    const Json json = Json::parse(json_text);
    settings.sample.kernel.kind = parse_kernel(json.at("kernel").get<std::string>());
    settings.sample.kernel.recycling = parse_recycling(json.at("recycle").get<std::string>());
    settings.sample.warmup.metric = parse_metric(json.at("metric").get<std::string>());
    settings.sample.warmup.metric_from =
        parse_metric_source(json.at("metric_from").get<std::string>());
    settings.sample.engine = parse_engine(json.at("engine").get<std::string>());
    json.at("save_warmup").get_to(settings.save_warmup);
    json.at("store_draws").get_to(settings.store_draws);
    json.at("sharpen").get_to(settings.sample.sharpen);
    json.at("recycle_generated").get_to(settings.sample.recycle_generated);
    json.at("store_gradients").get_to(settings.store_gradients);
    json.at("save").get_to(settings.save);
    json.at("drop").get_to(settings.drop);
    json.at("until").get_to(settings.until);
    for_each_setting(settings, [&](std::string_view group, const auto& setting, auto& owner) {
      json.at(std::string(group)).at(std::string(setting.name)).get_to(owner.*(setting.field));
    });
    json.at("start").get_to(settings.sample.start);
    if (json.contains("initial_metric")) {
      const Json& metric = json.at("initial_metric");
      settings.sample.warmup.initial_metric =
          make_metric(static_cast<MetricKind>(metric.at("kind").get<int>()),
                      metric.at("dimension").get<std::size_t>(),
                      metric.at("numbers").get<std::vector<double>>());
    }
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("stored settings: {}", error.what()));
  }
  return settings;
}

std::vector<std::size_t> recorded_columns(const std::vector<std::string>& names,
                                          const RunSettings& settings) {
  const std::vector<bool> saved = settings.save.empty() ? std::vector<bool>(names.size(), true)
                                                        : fitted(names, "save", settings.save);
  const std::vector<bool> dropped = fitted(names, "drop", settings.drop);
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (saved[i] && !dropped[i]) columns.push_back(i);
  }
  if (columns.empty()) throw ConfigError("drop: leaves no parameter to record");
  return columns;
}

std::vector<Quantity> recorded_quantities(const std::vector<Quantity>& all,
                                          const std::vector<std::size_t>& columns) {
  std::vector<Quantity> recorded;
  for (const std::size_t column : columns) recorded.push_back(all[column]);
  return recorded;
}

}  // namespace rehmc
