// Manifests as JSON.
#include "manifest_json.hpp"

#include <fmt/format.h>

#include "rehmc/core/error.hpp"
#include "settings_json.hpp"
#include "whole_json.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

Json mapped_json(const MappedCoordinate& mapped) {
  return {{"coordinate", mapped.coordinate}, {"map", static_cast<int>(mapped.map)}};
}

Json quantities_json(const Manifest& manifest) {
  Json all = Json::array();
  for (const Quantity& quantity : manifest.quantities) {
    Json& json = all.emplace_back();
    json["name"] = quantity.name;
    if (quantity.coordinate) json["coordinate"] = *quantity.coordinate;
    if (quantity.map != CoordinateMap::unknown) json["map"] = static_cast<int>(quantity.map);
    if (const auto& scaled = quantity.scaled) {
      json["scaled"]["coordinate"] = scaled->coordinate;
      if (scaled->offset) json["scaled"]["offset"] = mapped_json(*scaled->offset);
      if (scaled->multiplier) json["scaled"]["multiplier"] = mapped_json(*scaled->multiplier);
    }
    if (quantity.generated) json["generated"] = true;
    if (quantity.determined) json["determined"] = true;
    if (quantity.transformed) json["transformed"] = true;
  }
  return all;
}

CoordinateMap map_from_json(const Json& quantity, const std::string& name) {
  int map = 0;
  if (quantity.contains("map")) read_whole(quantity["map"], "map", map);
  if (map < 0 || map > static_cast<int>(greatest(CoordinateMap{}))) {
    throw DataError(fmt::format("'{}': there is no map {}", name, map));
  }
  return static_cast<CoordinateMap>(map);
}

Quantity quantity_from_json(const Json& json) {
  Quantity read;
  json.at("name").get_to(read.name);
  if (json.contains("coordinate")) {
    read_whole(json["coordinate"], "coordinate", read.coordinate.emplace());
  }
  read.map = map_from_json(json, read.name);
  if (json.contains("scaled")) {
    const Json& form = json["scaled"];
    const auto mapped = [&](const char* part) -> std::optional<MappedCoordinate> {
      if (!form.contains(part)) return std::nullopt;
      MappedCoordinate other;
      read_whole(form[part].at("coordinate"), "coordinate", other.coordinate);
      other.map = map_from_json(form[part], read.name);
      return other;
    };
    ScaledCoordinate& scaled = read.scaled.emplace();
    read_whole(form.at("coordinate"), "coordinate", scaled.coordinate);
    scaled.offset = mapped("offset");
    scaled.multiplier = mapped("multiplier");
  }
  read.generated = json.value("generated", false);
  read.determined = json.value("determined", false);
  read.transformed = json.value("transformed", false);
  return read;
}

void check_coordinates(const Quantity& quantity, std::size_t count) {
  const auto check = [&](std::size_t coordinate) {
    if (coordinate < count) return;
    throw DataError(
        fmt::format("'{}': there is no coordinate {}, only {}", quantity.name, coordinate, count));
  };
  if (quantity.coordinate) check(*quantity.coordinate);
  if (!quantity.scaled) return;
  check(quantity.scaled->coordinate);
  if (quantity.scaled->offset) check(quantity.scaled->offset->coordinate);
  if (quantity.scaled->multiplier) check(quantity.scaled->multiplier->coordinate);
}

}  // namespace

nlohmann::ordered_json manifest_json(const Manifest& manifest) {
  Json json;
  json["format"] = manifest_format;
  json["format_version"] = manifest_format_version;
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

Manifest manifest_from_json(const nlohmann::ordered_json& json) {
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
    manifest.quantities.push_back(quantity_from_json(quantity));
  }
  json.at("coordinates").get_to(manifest.coordinates);
  for (const Quantity& quantity : manifest.quantities) {
    check_coordinates(quantity, manifest.coordinates.size());
  }
  json.at("files").get_to(manifest.files);
  if (json.contains("given")) json["given"].get_to(manifest.given);
  manifest.settings = settings_from_json(json.at("settings"));
  manifest.settings.sample.seed = manifest.seed;
  manifest.settings.check();
  return manifest;
}

}  // namespace rehmc
