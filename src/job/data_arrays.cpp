// Reads nested arrays of JSON into rows of numbers.
#include "data_arrays.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/quoted_json.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::json;

std::optional<double> number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  // As CmdStan writes what JSON has no numbers for.
  const auto text = json.get<std::string>();
  if (text == "NaN") return nan_value;
  if (text == "Infinity" || text == "Inf" || text == "+inf") return INFINITY;
  if (text == "-Infinity" || text == "-Inf" || text == "-inf") return -INFINITY;
  return std::nullopt;
}

/// Whether all of it fits the shape, of which `depth` dimensions are above it.
bool append(const Json& json, std::size_t depth, DataArray& array) {
  if (depth == array.shape.size()) {
    const std::optional<double> number = number_of(json);
    if (number) array.values.push_back(*number);
    return number.has_value();
  }
  if (!json.is_array() || json.size() != array.shape[depth]) return false;
  for (const Json& part : json) {
    if (!append(part, depth + 1, array)) return false;
  }
  return true;
}

std::optional<DataArray> array_of(const Json& json) {
  DataArray array;
  for (const Json* part = &json; part->is_array(); part = &part->front()) {
    if (part->empty()) return std::nullopt;
    array.shape.push_back(part->size());
  }
  return append(json, 0, array) ? std::optional(std::move(array)) : std::nullopt;
}

}  // namespace

std::map<std::string, DataArray> data_arrays(const std::string& json) {
  std::map<std::string, DataArray> arrays;
  const Json data = Json::parse(QuotedJson(json).text(), nullptr, false);
  if (!data.is_object()) return arrays;
  for (const auto& [name, value] : data.items()) {
    if (std::optional<DataArray> array = array_of(value)) arrays[name] = *std::move(array);
  }
  return arrays;
}

}  // namespace rehmc
