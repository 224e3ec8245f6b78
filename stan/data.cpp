// Rewrites JSON with bare NaN and infinities.
#include "stan/data.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "rehmc/core/error.hpp"

namespace rehmc::stan {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 8> bare{"-Infinity", "+Infinity", "Infinity", "-Inf",
                                               "+Inf",      "Inf",       "NaN",      "nan"};

std::string quoted(std::string_view word) {
  return fmt::format("\"{}\"", word == "nan" ? "NaN" : word);
}

}  // namespace

std::string strict_json(const std::string& text, const std::string& file) {
  std::string strict;
  strict.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      strict += c;
      if (c == '\\' && i + 1 < text.size()) strict += text[++i];
      if (c == '"') in_string = false;
      continue;
    }
    in_string = c == '"';
    std::string_view word;
    if (c == '-' || c == '+' || c == 'I' || c == 'N' || c == 'n') {
      for (const std::string_view each : bare) {
        if (word.empty() && std::string_view(text).substr(i).starts_with(each)) word = each;
      }
    }
    if (word.empty()) {
      strict += c;
    } else {
      strict += quoted(word);
      i += word.size() - 1;
    }
  }
  if (!Json::accept(strict)) {  // which takes no memory
    try {
      const Json never = Json::parse(strict);  // for what it says
    } catch (const Json::exception& error) {
      throw DataError(fmt::format("{}: is not JSON: {}", file, error.what()));
    }
  }
  if (strict[strict.find_first_not_of(" \t\r\n")] != '{') {
    throw DataError(
        fmt::format("{}: holds no object; expected one such as {{\"N\": 2, \"y\": [1, 2]}}", file));
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
