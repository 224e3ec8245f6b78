// Reads and writes manifests, and prepares run folders.
#include "rehmc/job/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/durable_file.hpp"
#include "settings_json.hpp"
#include "still_usable.hpp"
#include "whole_json.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;
namespace files = std::filesystem;

constexpr int format_version = 4;

constexpr std::string_view format_name = "rehmc run folder";

/// Whether there is a manifest of ours: other programs have a manifest.json, too.
bool holds_run(const RunFolder& folder) {
  return files::is_regular_file(folder.manifest()) &&
         read_file(folder.manifest()).find(format_name) != std::string::npos;
}

/// In a folder without a run. Where a process of rehmc ended before there was a manifest, its lock
/// is left; without it, a model.stan or a chain-1.csv is somebody's own.
bool holds_other_files(const RunFolder& folder) {
  const bool begun = was_locked(folder);
  const files::directory_iterator entries(folder.path());
  return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
    const files::path& path = entry.path();
    if (path == folder.lock() || path == folder.probe()) return false;
    return !begun || path == folder.manifest() || !RunFolder::is_ours(path.filename().string());
  });
}

/// All but the lock, which its holder removes.
void clear_run(const RunFolder& folder) {
  for (const auto& entry : files::directory_iterator(folder.path())) {
    if (entry.path() != folder.lock() && RunFolder::is_ours(entry.path().filename().string())) {
      files::remove(entry.path());
    }
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
    if (quantity.map != CoordinateMap::unknown) json["map"] = static_cast<int>(quantity.map);
    if (quantity.generated) json["generated"] = true;
    if (quantity.determined) json["determined"] = true;
    if (quantity.transformed) json["transformed"] = true;
  }
  return all;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(now));
}

namespace {

/// Everything but the checksum.
Json manifest_json(const Manifest& manifest) {
  Json json;
  json["format"] = format_name;
  json["format_version"] = format_version;
  json["version"] = manifest.version;
  json["created"] = manifest.created;
  json["model"] = {{"name", manifest.model.name}, {"hash", manifest.model.hash}};
  if (!manifest.model.made_by.empty()) json["model"]["made_by"] = manifest.model.made_by;
  json["seed"] = manifest.seed;
  json["settings"] = settings_json(manifest.settings);
  json["parameters"] = quantities_json(manifest);
  json["coordinates"] = manifest.coordinates;
  json["files"] = manifest.files;
  json["given"] = manifest.given;
  return json;
}

/// Names are printed, and that of the model stands in the names of files.
void require_plain_names(const Manifest& manifest) {
  const auto require = [&](const std::string& name, std::string_view forbidden) {
    if (name == visible(name) && name.find_first_of(forbidden) == std::string::npos) return;
    throw DataError(
        fmt::format("'{}' cannot be the name of a model or a parameter: it must be UTF-8 "
                    "without control characters",
                    visible(name)));
  };
  require(manifest.model.name, "/\n\t");
  for (const std::string& name : names_of(manifest.quantities)) require(name, "\n\t");
  for (const std::string& name : manifest.coordinates) require(name, "\n\t");
}

}  // namespace

std::string essence(const Manifest& manifest) {
  Json json = manifest_json(manifest);
  json.erase("given");
  json["settings"].erase("until");
  json["settings"]["run"].erase("draws");
  json["settings"]["run"].erase("threads");
  return content_hash(json.dump());
}

void write_manifest(const RunFolder& folder, const Manifest& manifest) {
  require_plain_names(manifest);
  Json json = manifest_json(manifest);
  json["checksum"] = content_hash(json.dump());
  write_whole(folder.manifest(), json.dump(2) + "\n");
}

namespace {

void require_checksum(const Json& json, const RunFolder& folder) {
  Json rest = json;
  const std::string checksum = rest.at("checksum").get<std::string>();
  rest.erase("checksum");
  if (content_hash(rest.dump()) == checksum) return;
  throw DataError(fmt::format("{}: was changed after rehmc wrote it: its checksum does not match{}",
                              folder.manifest().string(),
                              still_usable(folder, 0, folder.manifest())));
}

Manifest manifest_from_json(const Json& json) {
  Manifest manifest;
  json.at("version").get_to(manifest.version);
  json.at("created").get_to(manifest.created);
  json.at("model").at("name").get_to(manifest.model.name);
  json.at("model").at("hash").get_to(manifest.model.hash);
  if (json.at("model").contains("made_by")) {
    json.at("model").at("made_by").get_to(manifest.model.made_by);
  }
  read_whole(json.at("seed"), "seed", manifest.seed);
  for (const Json& quantity : json.at("parameters")) {
    Quantity& read = manifest.quantities.emplace_back();
    quantity.at("name").get_to(read.name);
    if (quantity.contains("coordinate")) {
      read_whole(quantity["coordinate"], "coordinate", read.coordinate.emplace());
    }
    int map = 0;
    if (quantity.contains("map")) read_whole(quantity["map"], "map", map);
    if (map < 0 || map > static_cast<int>(greatest(CoordinateMap{}))) {
      throw DataError(fmt::format("'{}': there is no map {}", read.name, map));
    }
    read.map = static_cast<CoordinateMap>(map);
    read.generated = quantity.value("generated", false);
    read.determined = quantity.value("determined", false);
    read.transformed = quantity.value("transformed", false);
  }
  json.at("coordinates").get_to(manifest.coordinates);
  json.at("files").get_to(manifest.files);
  if (json.contains("given")) json["given"].get_to(manifest.given);
  manifest.settings = settings_from_json(json.at("settings"));
  manifest.settings.sample.seed = manifest.seed;
  manifest.settings.check();
  return manifest;
}

}  // namespace

namespace {

/// In a folder of somebody else, a link or a device could lead to any file, or never end.
void require_ordinary_files(const RunFolder& folder) {
  for (const auto& entry : files::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    const files::file_type type = entry.symlink_status().type();
    if (!RunFolder::is_ours(name) || type == files::file_type::regular) continue;
    if (type == files::file_type::not_found) continue;  // renamed by a process that writes it
    throw DataError(fmt::format(
        "{}: is a link, a folder or a device, but a run folder holds ordinary files only; put the "
        "file itself there",
        entry.path().string()));
  }
}

}  // namespace

namespace {

/// A manifest whose checksum fits: if it cannot be read, it is not damaged.
Manifest understood(const Json& json, const RunFolder& folder) {
  const auto other = [&](const std::exception& error) {
    return DataError(fmt::format(
        "{}: written by another build of rehmc ({}): this one cannot read its settings ({}){}",
        folder.manifest().string(), json.value("version", "unknown"), error.what(),
        still_usable(folder, 0, folder.manifest())));
  };
  Manifest manifest;
  try {
    manifest = manifest_from_json(json);
    recorded_columns(names_of(manifest.quantities), manifest.settings);
  } catch (const Json::exception& error) {
    throw other(error);
  } catch (const Error& error) {
    throw other(error);
  }
  require_plain_names(manifest);
  return manifest;
}

}  // namespace

Manifest read_manifest(const RunFolder& folder) {
  const std::string path = folder.manifest().string();
  if (!files::is_directory(folder.path())) {
    throw NoInputError(fmt::format("{}: there is no such run folder", folder.path().string()));
  }
  if (!files::exists(folder.manifest())) {
    throw NoInputError(fmt::format("{}: is not a run folder of rehmc (it has no manifest.json)",
                                   folder.path().string()));
  }
  require_ordinary_files(folder);
  try {
    const std::string text = read_file(folder.manifest());
    require_json_depth(text, path);
    const Json json = Json::parse(text);
    if (json.at("format") != format_name || json.at("format_version") != format_version) {
      throw DataError(
          fmt::format("{}: written by another version of rehmc ({}); this one reads format {}. The "
                      "draws can still be read: rehmc summary {}, and so on",
                      path, json.value("version", "unknown"), format_version,
                      shell_word(folder.draws(0).string())));
    }
    require_checksum(json, folder);
    return understood(json, folder);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: is damaged: {}{}", path, error.what(),
                                still_usable(folder, 0, folder.manifest())));
  }
}

namespace {

/// CreateError unless a new run may use the folder.
void refuse_if_in_use(const RunFolder& folder, bool force) {
  const std::string path = folder.path().string();
  if (!files::is_directory(folder.path())) {
    throw CreateError(fmt::format("{}: is a file, not a folder; choose another --output", path));
  }
  const bool run = holds_run(folder);
  if (!run && holds_other_files(folder)) {
    throw CreateError(fmt::format(
        "{}: exists and holds files that rehmc did not write; choose another --output", path));
  }
  // A run that was killed before it had a manifest contains nothing to protect.
  if (run && !force) {
    throw CreateError(
        fmt::format("{}: already holds a run; choose another --output, continue it (rehmc "
                    "resume {}), or replace it with --force",
                    path, shell_word(path)));
  }
}

/// Detects a folder that cannot be written before sampling, not after it.
void require_writable(const RunFolder& folder) {
  try {
    write_whole(folder.probe(), "");
  } catch (const FileError& cause) {
    throw CreateError(fmt::format("{}: cannot write into this folder ({})", folder.path().string(),
                                  cause.what()));
  }
  files::remove(folder.probe());
}

}  // namespace

RunLock create_run_folder(const RunFolder& folder, bool force) {
  const std::string path = folder.path().string();
  std::error_code error;
  try {
    if (files::exists(folder.path(), error)) {
      refuse_if_in_use(folder, force);
    } else {
      files::create_directories(folder.path(), error);
      if (error) {
        throw CreateError(fmt::format("{}: cannot create this folder: {}; choose another --output",
                                      path, error.message()));
      }
    }
    RunLock lock(folder);
    refuse_if_in_use(folder, force);  // another process may have written into it since
    clear_run(folder);
    require_writable(folder);
    return lock;
  } catch (const files::filesystem_error& cause) {
    throw CreateError(fmt::format("{}: cannot use this folder: {}; choose another --output", path,
                                  cause.code().message()));
  }
}

void remove_run(const RunFolder& folder) {
  clear_run(folder);
  std::error_code not_empty;
  files::remove(folder.lock(), not_empty);
  files::remove(folder.path(), not_empty);
}

files::path create_free_folder(const std::string& name) {
  for (int number = 1;; ++number) {
    files::path path = fmt::format("{}-{}", name, number);
    std::error_code error;
    if (files::create_directory(path, error)) return path;
    if (error && !files::exists(path)) {
      throw CreateError(fmt::format("{}: cannot create this folder: {}; choose one with --output",
                                    path.string(), error.message()));
    }
  }
}

}  // namespace rehmc
