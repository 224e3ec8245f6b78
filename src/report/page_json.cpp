// Rounds and shortens what goes into the page's JSON.
#include "page_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace rehmc::report {

Json number(double x, int digits) {
  if (!std::isfinite(x)) return nullptr;
  const std::string text = fmt::format("{:.{}g}", x, digits);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Json numbers(std::span<const double> values, int digits) {
  Json array = Json::array();
  for (const double x : values) array.push_back(number(x, digits));
  return array;
}

std::string shortened(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "\u2026";
}

std::string script_text(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace rehmc::report
