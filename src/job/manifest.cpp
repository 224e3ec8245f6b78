// Reads and writes manifests.
#include "rehmc/job/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "manifest_json.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/durable_file.hpp"
#include "still_usable.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;
namespace files = std::filesystem;

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

void require_checksum(const Json& json, const RunFolder& folder) {
  Json rest = json;
  const std::string checksum = rest.at("checksum").get<std::string>();
  rest.erase("checksum");
  if (content_hash(rest.dump()) == checksum) return;
  throw DataError(fmt::format("{}: was changed after rehmc wrote it: its checksum does not match{}",
                              folder.manifest().string(),
                              still_usable(folder, 0, folder.manifest())));
}

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

/// What still reads a folder of another format.
std::string other_reader(const RunFolder& folder) {
  std::string files;
  for (std::size_t chain = 0; files::exists(folder.draws(chain)); ++chain) {
    files += " " + shell_word(folder.draws(chain).string());
  }
  if (files.empty()) return ". Its summary.json is text";
  return ". The draws can still be read: rehmc summary" + files;
}

}  // namespace

std::string version() { return REHMC_VERSION; }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(now));
}

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
    if (json.at("format") != manifest_format ||
        json.at("format_version") != manifest_format_version) {
      throw DataError(fmt::format(
          "{}: written by another version of rehmc ({}, format {}); this one reads format {}{}",
          path, json.value("version", "unknown"), json.at("format_version").dump(),
          manifest_format_version, other_reader(folder)));
    }
    require_checksum(json, folder);
    return understood(json, folder);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: is damaged: {}{}", path, error.what(),
                                still_usable(folder, 0, folder.manifest())));
  }
}

}  // namespace rehmc
