// The built-in models by name, gathered from the files that describe them.
#include "models/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc {
namespace {

std::vector<ModelEntry> gather() {
  ModelEntries all;
  for (const auto entries_of_file : entry_functions()) {
    for (ModelEntry& entry : entries_of_file()) all.push_back(std::move(entry));
  }
  // By name where two places are equal: the order of files must not matter.
  std::sort(all.begin(), all.end(), [](const ModelEntry& a, const ModelEntry& b) {
    return std::tie(a.place, a.info.name) < std::tie(b.place, b.info.name);
  });
  return all;
}

const ModelEntries& entries() {
  static const ModelEntries all = gather();
  return all;
}

const ModelEntry& entry_of(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : entries()) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  const std::string suggestion = did_you_mean(name, names);
  throw ConfigError(fmt::format("no built-in model is called '{}'{} `rehmc models` lists them all.",
                                name, suggestion.empty() ? "." : suggestion));
}

}  // namespace

const std::vector<ModelInfo>& built_in_models() {
  static const std::vector<ModelInfo> infos = [] {
    std::vector<ModelInfo> result;
    for (const ModelEntry& entry : entries()) result.push_back(entry.info);
    return result;
  }();
  return infos;
}

const ModelInfo& model_info(const std::string& name) { return entry_of(name).info; }

BuiltModel make_model(const std::string& name, const std::string& data_text,
                      const std::string& data_file) {
  const ModelEntry& entry = entry_of(name);
  DataReader data(data_text, data_file, entry.keys);
  Density density = entry.make(data);
  const std::string identity =
      content_hash(fmt::format("{} version {}\n{}", name, entry.version, data.canonical()));
  return {std::move(density), name, identity};
}

}  // namespace rehmc
