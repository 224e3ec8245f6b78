// Converts JSON with bare NaN and infinities to valid JSON.
#include "rehmc/core/quoted_json.hpp"

#include <algorithm>
#include <array>

namespace rehmc {
namespace {

/// The word to be quoted that the text begins with; empty if there is none.
std::string_view special_word(std::string_view text) {
  // Infinity before Inf, its prefix.
  constexpr std::array<std::string_view, 9> words{
      "NaN", "-NaN", "nan", "Infinity", "-Infinity", "+Infinity", "Inf", "-Inf", "+Inf"};
  constexpr std::string_view first_letters = "-+NnI";
  if (first_letters.find(text.front()) == std::string_view::npos) return {};
  const auto* const word = std::find_if(
      words.begin(), words.end(), [&](std::string_view each) { return text.starts_with(each); });
  return word == words.end() ? std::string_view() : *word;
}

}  // namespace

QuotedJson::QuotedJson(std::string_view text) {
  text_.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      text_.append(text, i, 2);
      i += 2;
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    const std::string_view word = in_string ? std::string_view() : special_word(text.substr(i));
    if (word.empty()) {
      text_.push_back(text[i++]);
      continue;
    }
    quotes_.push_back(text_.size());
    text_.append("\"").append(word == "nan" ? "NaN" : word);
    quotes_.push_back(text_.size());
    text_.append("\"");
    i += word.size();
  }
}

std::size_t QuotedJson::original(std::size_t byte) const {
  const auto added = std::lower_bound(quotes_.begin(), quotes_.end(), byte) - quotes_.begin();
  return byte - static_cast<std::size_t>(added);
}

}  // namespace rehmc
