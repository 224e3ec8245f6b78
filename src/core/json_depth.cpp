// Counts open brackets outside of strings.
#include "rehmc/core/json_depth.hpp"

#include <fmt/format.h>

#include "rehmc/core/error.hpp"

namespace rehmc {

void require_json_depth(std::string_view text, const std::string& file) {
  constexpr int deepest = 100;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == ']' || c == '}') --depth;
    if (c != '[' && c != '{') continue;
    if (++depth <= deepest) continue;
    throw DataError(fmt::format(
        "{}: its arrays and objects are nested more than {} deep (at byte {}); expected fewer",
        file, deepest, i + 1));
  }
}

}  // namespace rehmc
