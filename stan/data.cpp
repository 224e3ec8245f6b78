// Rewrites JSON with bare NaN and infinities.
#include "stan/data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/core/quoted_json.hpp"

namespace rehmc::stan {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string strict_json(const std::string& text, const std::string& file) {
  require_json_depth(text, file);
  std::string strict = QuotedJson(text).text();
  if (!Json::accept(strict)) {  // builds no tree
    try {
      const Json never = Json::parse(strict);  // for its message
    } catch (const Json::exception& error) {
      throw DataError(fmt::format("{}: is not JSON: {}", file, error.what()));
    }
  }
  if (strict[strict.find_first_not_of(" \t\r\n")] != '{') {
    throw DataError(fmt::format(
        "{}: contains no object; expected one such as {{\"N\": 2, \"y\": [1, 2]}}", file));
  }
  return strict;
}

std::string with_key(const std::string& object, const std::string& key, const std::string& value) {
  const std::size_t open = object.find('{') + 1;
  const std::size_t next = object.find_first_not_of(" \t\r\n", open);
  const bool empty = next == std::string::npos || object[next] == '}';
  return fmt::format("{}{}:{}{}{}", std::string_view(object).substr(0, open), Json(key).dump(),
                     value, empty ? "" : ",", std::string_view(object).substr(open));
}

}  // namespace rehmc::stan
