// Bounds how deeply JSON is nested, before it is parsed: parsers and readers recurse.
#pragma once

#include <string>
#include <string_view>

namespace rehmc {

/// DataError if arrays and objects are nested more than 100 deep, which nobody needs and which
/// could exhaust the stack. `file` is for the message.
void require_json_depth(std::string_view text, const std::string& file);

}  // namespace rehmc
