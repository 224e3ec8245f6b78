// Writes settings to JSON, and reads them from it.
#include "settings_json.hpp"

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "whole_json.hpp"

namespace rehmc {

namespace {

using OrderedJson = nlohmann::ordered_json;

}  // namespace

OrderedJson settings_json(const RunSettings& settings) {
  RunSettings copy = settings;
  OrderedJson json;
  json["kernel"] = describe(copy.sample.kernel.kind);
  json["recycle"] = describe(copy.sample.kernel.recycling);
  json["metric"] = metric_name(copy.sample.warmup.metric);
  json["search_step_size"] = copy.sample.warmup.search_step_size;
  json["search_path_length"] = copy.sample.search_path_length;
  json["warmup_schedule"] = describe(copy.sample.warmup.schedule);
  json["start_kind"] = start_name(copy.sample.start_kind);
  json["metric_from"] = metric_source_name(copy.sample.warmup.metric_from);
  json["engine"] = describe(copy.sample.engine);
  json["save_warmup"] = copy.save_warmup;
  json["store_draws"] = copy.store_draws;
  json["sharpen"] = copy.sample.sharpen;
  json["recycle_generated"] = copy.sample.recycle_generated;
  json["store_gradients"] = copy.store_gradients;
  json["recycled_csv"] = copy.recycled_csv;
  json["sharpen_all"] = copy.sharpen_all;
  json["log_lik"] = copy.log_lik;
  json["predictive"] = copy.predictive;
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
  return json;
}

RunSettings settings_from_json(const OrderedJson& json) {
  RunSettings settings;
  try {
    settings.sample.kernel.kind = parse_kernel(json.at("kernel").get<std::string>());
    settings.sample.kernel.recycling = parse_recycling(json.at("recycle").get<std::string>());
    settings.sample.warmup.metric = parse_metric(json.at("metric").get<std::string>());
    settings.sample.warmup.schedule =
        parse_warmup_schedule(json.at("warmup_schedule").get<std::string>());
    json.at("search_path_length").get_to(settings.sample.search_path_length);
    json.at("search_step_size").get_to(settings.sample.warmup.search_step_size);
    settings.sample.start_kind = parse_start(json.at("start_kind").get<std::string>());
    settings.sample.warmup.metric_from =
        parse_metric_source(json.at("metric_from").get<std::string>());
    settings.sample.engine = parse_engine(json.at("engine").get<std::string>());
    json.at("save_warmup").get_to(settings.save_warmup);
    json.at("store_draws").get_to(settings.store_draws);
    json.at("sharpen").get_to(settings.sample.sharpen);
    json.at("recycle_generated").get_to(settings.sample.recycle_generated);
    json.at("store_gradients").get_to(settings.store_gradients);
    json.at("recycled_csv").get_to(settings.recycled_csv);
    json.at("sharpen_all").get_to(settings.sharpen_all);
    json.at("log_lik").get_to(settings.log_lik);
    json.at("predictive").get_to(settings.predictive);
    json.at("save").get_to(settings.save);
    json.at("drop").get_to(settings.drop);
    json.at("until").get_to(settings.until);
    for_each_setting(settings, [&](std::string_view group, const auto& setting, auto& owner) {
      const OrderedJson& stored = json.at(std::string(group)).at(std::string(setting.name));
      auto& value = owner.*(setting.field);
      using Value = std::decay_t<decltype(value)>;
      if constexpr (std::integral<Value> && !std::same_as<Value, bool>) {
        read_whole(stored, setting.name, value);
      } else {
        stored.get_to(value);
      }
    });
    json.at("start").get_to(settings.sample.start);
    if (json.contains("initial_metric")) {
      const OrderedJson& metric = json.at("initial_metric");
      int kind = 0;
      read_whole(metric.at("kind"), "kind of metric", kind);
      std::size_t dimension = 0;
      read_whole(metric.at("dimension"), "dimension of metric", dimension);
      if (kind < 0 || kind > static_cast<int>(greatest(MetricKind{}))) {
        throw DataError(fmt::format("stored settings: there is no metric of kind {}", kind));
      }
      settings.sample.warmup.initial_metric =
          make_metric(static_cast<MetricKind>(kind), dimension,
                      metric.at("numbers").get<std::vector<double>>());
    }
  } catch (const OrderedJson::exception& error) {
    throw DataError(fmt::format("stored settings: {}", error.what()));
  }
  return settings;
}

}  // namespace rehmc
