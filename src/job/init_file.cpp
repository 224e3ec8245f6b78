// Reads starting positions.
#include "rehmc/job/init_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/json_depth.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::json;

/// Writes the numbers of a value under "name", "name.1", "name.1.2", ...
void flatten(const std::string& name, const Json& value, const std::string& file,
             std::map<std::string, double>& numbers) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(fmt::format("{}.{}", name, i + 1), value[i], file, numbers);
    }
  } else if (value.is_number()) {
    numbers[name] = value.get<double>();
  } else {
    throw DataError(
        fmt::format("{}: {} is {}, expected a number or an array", file, name, value.dump()));
  }
}

std::vector<double> position(const Json& object, const std::string& file,
                             const std::vector<std::string>& names) {
  if (!object.is_object()) {
    throw DataError(fmt::format(
        "{}: found {}, expected an object such as {{\"{}\": 0.5}}, or an array of objects", file,
        object.type_name(), names.front()));
  }
  std::map<std::string, double> numbers;
  for (const auto& [key, value] : object.items()) flatten(key, value, file, numbers);
  std::vector<double> position;
  for (const std::string& name : names) {
    const auto found = numbers.find(name);
    if (found == numbers.end()) {
      throw DataError(fmt::format("{}: there is no value for {}; all {} parameters need one", file,
                                  name, names.size()));
    }
    position.push_back(found->second);
    numbers.erase(found);
  }
  if (!numbers.empty()) {
    throw DataError(fmt::format("{}: the model has no parameter {}", file, numbers.begin()->first));
  }
  return position;
}

}  // namespace

std::vector<std::vector<double>> read_init_file(const std::filesystem::path& path,
                                                const std::vector<std::string>& names) {
  const std::string file = path.string();
  if (!std::filesystem::is_regular_file(path)) {
    throw NoInputError(fmt::format("init: '{}' is neither a number nor a file that exists", file));
  }
  const std::string text = read_file(path);
  require_json_depth(text, file);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: is not JSON: {}", file, error.what()));
  }
  std::vector<std::vector<double>> positions;
  if (json.is_array()) {
    for (const Json& object : json) positions.push_back(position(object, file, names));
    if (positions.empty()) throw DataError(fmt::format("{}: the array is empty", file));
  } else {
    positions.push_back(position(json, file, names));
  }
  return positions;
}

}  // namespace rehmc
