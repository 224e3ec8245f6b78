// Lists settings as options, and writes the command of a run.
#include "shown_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>

#include "rehmc/core/shell_word.hpp"

namespace rehmc {

namespace {

/// A setting as an option. Flags have the values "on" and "off"; several values make an option that
/// is given several times.
struct ShownOption {
  std::string name;
  std::vector<std::string> values;
  bool flag = false;
};

ShownOption flag(std::string name, bool on) { return {std::move(name), {on ? "on" : "off"}, true}; }

/// The numbers that rooms declare. The two ends of the jitter have one option.
void add_numbers(RunSettings& settings, std::vector<ShownOption>& options) {
  for_each_setting(settings, [&](std::string_view, const auto& setting, auto& owner) {
    std::string name(setting.name);
    std::replace(name.begin(), name.end(), '_', '-');
    const auto& value = owner.*(setting.field);
    const bool known = std::any_of(options.begin(), options.end(),
                                   [&](const ShownOption& option) { return option.name == name; });
    if (known || name.starts_with("jitter-")) return;
    if constexpr (std::same_as<std::decay_t<decltype(value)>, bool>) {
      options.push_back(flag(name, value));
    } else {
      options.push_back({name, {fmt::format("{}", value)}});
    }
  });
}

std::vector<ShownOption> options_of(RunSettings settings) {
  const SampleSettings& sample = settings.sample;
  std::vector<ShownOption> options{
      {"kernel", {std::string(describe(sample.kernel.kind))}},
      {"recycle", {describe(sample.kernel.recycling)}},
      {"warmup-schedule", {std::string(describe(sample.warmup.schedule))}},
      {"start", {std::string(start_name(sample.start_kind))}},
      {"metric", {std::string(metric_name(sample.warmup.metric))}},
      {"metric-from", {std::string(metric_source_name(sample.warmup.metric_from))}},
      {"engine", {std::string(describe(sample.engine))}},
      {"sharpen", {sample.sharpen ? "auto" : "none"}},
      flag("recycle-generated", sample.recycle_generated),
      flag("save-warmup", settings.save_warmup),
      flag("no-draws", !settings.store_draws),
      flag("no-sharpen-data", !settings.store_gradients),
      {"until", {settings.until}},
      {"save", settings.save},
      {"drop", settings.drop},
      {"path-jitter",
       {fmt::format("{}:{}", sample.kernel.hmc.jitter_least, sample.kernel.hmc.jitter_most)}}};
  add_numbers(settings, options);
  return options;
}

struct Difference {
  ShownOption option;
  ShownOption standard;
  bool differs = false;
};

std::vector<Difference> differences(const RunSettings& settings) {
  const std::vector<ShownOption> ours = options_of(settings);
  const std::vector<ShownOption> standard = options_of({});
  const SampleSettings& sample = settings.sample;
  std::vector<Difference> all;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    bool differs = ours[i].values != standard[i].values;
    // A path length that is given is not searched for, even if it is the default.
    if (ours[i].name == "path-length") differs = !sample.search_path_length;
    // A file with a metric brings a step size, unless one was given.
    if (ours[i].name == "step-size" && sample.warmup.initial_metric) {
      differs = sample.warmup.search_step_size;
    }
    all.push_back({ours[i], standard[i], differs});
  }
  return all;
}

/// Draws do not depend on these.
bool matters(const ShownOption& option) {
  return option.name != "threads" && option.name != "batch" && option.name != "checkpoint-seconds";
}

}  // namespace

std::vector<ReportSetting> shown_settings(const RunSettings& settings) {
  const auto text = [](const ShownOption& option) {
    return fmt::format("{}", fmt::join(option.values, ", "));
  };
  std::vector<ReportSetting> shown;
  for (const bool differs : {true, false}) {
    for (const Difference& each : differences(settings)) {
      if (each.differs != differs) continue;
      shown.push_back({each.option.name, text(each.option), text(each.standard), differs});
    }
  }
  return shown;
}

std::string command_again(const Manifest& manifest) {
  std::string command = "rehmc sample";
  const auto add = [&](const std::string& word) { command += " " + shell_word(word); };
  if (manifest.given.empty()) add(manifest.model.name);
  for (const std::string& word : manifest.given) add(word);
  for (const Difference& each : differences(manifest.settings)) {
    if (!each.differs || !matters(each.option)) continue;
    if (each.option.flag) {
      add("--" + each.option.name);
      continue;
    }
    for (const std::string& value : each.option.values) {
      add("--" + each.option.name);
      add(value);
    }
  }
  return command + fmt::format(" --seed {}", manifest.seed);
}

}  // namespace rehmc
