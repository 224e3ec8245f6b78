// Reads and writes manifests, and prepares run folders.
#include "rehmc/job/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "settings_json.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;
namespace files = std::filesystem;

constexpr int format_version = 2;

bool holds_other_files(const RunFolder& folder) {
  const files::directory_iterator entries(folder.path());
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return !RunFolder::is_ours(entry.path().filename().string());
  });
}

void clear_run(const RunFolder& folder) {
  for (const auto& entry : files::directory_iterator(folder.path())) {
    if (RunFolder::is_ours(entry.path().filename().string())) files::remove(entry.path());
  }
}

}  // namespace

std::string version() { return REHMC_VERSION; }

namespace {

Json quantities_json(const Manifest& manifest) {
  Json all = Json::array();
  for (const Quantity& quantity : manifest.quantities) {
    Json& json = all.emplace_back();
    json["name"] = quantity.name;
    if (quantity.coordinate) json["coordinate"] = *quantity.coordinate;
    if (quantity.generated) json["generated"] = true;
  }
  return all;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(now));
}

void write_manifest(const RunFolder& folder, const Manifest& manifest) {
  Json json;
  json["format"] = "rehmc run folder";
  json["format_version"] = format_version;
  json["version"] = manifest.version;
  json["created"] = manifest.created;
  json["model"] = {{"name", manifest.model.name}, {"hash", manifest.model.hash}};
  if (!manifest.model.made_by.empty()) json["model"]["made_by"] = manifest.model.made_by;
  json["seed"] = manifest.seed;
  json["settings"] = settings_json(manifest.settings);
  json["parameters"] = quantities_json(manifest);
  json["coordinates"] = manifest.coordinates;
  write_whole(folder.manifest(), json.dump(2) + "\n");
}

Manifest read_manifest(const RunFolder& folder) {
  const std::string path = folder.manifest().string();
  if (!files::is_directory(folder.path())) {
    throw NoInputError(fmt::format("{}: there is no such run folder", folder.path().string()));
  }
  if (!files::exists(folder.manifest())) {
    throw NoInputError(fmt::format("{}: is not a run folder of rehmc (it has no manifest.json)",
                                   folder.path().string()));
  }
  try {
    const Json json = Json::parse(read_file(folder.manifest()));
    if (json.at("format") != "rehmc run folder" || json.at("format_version") != format_version) {
      throw DataError(
          fmt::format("{}: written by another version of rehmc ({}); this one reads "
                      "format {}",
                      path, json.value("version", "unknown"), format_version));
    }
    Manifest manifest;
    json.at("version").get_to(manifest.version);
    json.at("created").get_to(manifest.created);
    json.at("model").at("name").get_to(manifest.model.name);
    json.at("model").at("hash").get_to(manifest.model.hash);
    if (json.at("model").contains("made_by")) {
      json.at("model").at("made_by").get_to(manifest.model.made_by);
    }
    json.at("seed").get_to(manifest.seed);
    for (const Json& quantity : json.at("parameters")) {
      Quantity& read = manifest.quantities.emplace_back();
      quantity.at("name").get_to(read.name);
      if (quantity.contains("coordinate")) {
        read.coordinate = quantity["coordinate"].get<std::size_t>();
      }
      read.generated = quantity.value("generated", false);
    }
    json.at("coordinates").get_to(manifest.coordinates);
    manifest.settings = settings_from_json(json.at("settings"));
    manifest.settings.sample.seed = manifest.seed;
    manifest.settings.check();
    return manifest;
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: is damaged: {}", path, error.what()));
  } catch (const ConfigError& error) {
    throw DataError(fmt::format("{}: is damaged: {}", path, error.what()));
  }
}

void create_run_folder(const RunFolder& folder, bool force) {
  const std::string path = folder.path().string();
  std::error_code error;
  if (files::exists(folder.path(), error)) {
    if (!files::is_directory(folder.path())) {
      throw CreateError(fmt::format("{}: is a file, not a folder; choose another --output", path));
    }
    if (!files::is_empty(folder.path())) {
      if (!files::exists(folder.manifest()) && holds_other_files(folder)) {
        throw CreateError(fmt::format(
            "{}: exists and holds files that rehmc did not write; choose another --output", path));
      }
      // A run that was killed before it had a manifest contains nothing to protect.
      if (files::exists(folder.manifest()) && !force) {
        throw CreateError(
            fmt::format("{}: already holds a run; choose another --output, continue it (rehmc "
                        "resume {}), or replace it with --force",
                        path, path));
      }
      clear_run(folder);
    }
  } else {
    files::create_directories(folder.path(), error);
    if (error) {
      throw CreateError(fmt::format("{}: cannot create this folder: {}; choose another --output",
                                    path, error.message()));
    }
  }
  // Detects a folder that cannot be written before sampling, not after it.
  const files::path probe = folder.probe();
  try {
    write_whole(probe, "");
  } catch (const FileError& cause) {
    throw CreateError(fmt::format("{}: cannot write into this folder ({})", path, cause.what()));
  }
  files::remove(probe);
}

void remove_run(const RunFolder& folder) {
  clear_run(folder);
  std::error_code not_empty;
  files::remove(folder.path(), not_empty);
}

files::path free_folder(const std::string& name) {
  for (int number = 1;; ++number) {
    files::path path = fmt::format("{}-{}", name, number);
    if (!files::exists(path)) return path;
  }
}

}  // namespace rehmc
