// Numbers and texts as the page's JSON has them: rounded, shortened, safe inside a script element.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace rehmc::report {

using Json = nlohmann::ordered_json;

/// Rounded to this many digits; null for NaN and infinities, which JSON does not have.
Json number(double x, int digits = 6);
Json numbers(std::span<const double> values, int digits = 6);

/// At most this many bytes, without half a character at the end.
std::string shortened(const std::string& text, std::size_t most_bytes);

/// As text for a script element, where `</script` would end it and `<!--` change how it is read.
std::string script_text(const Json& json);

}  // namespace rehmc::report
