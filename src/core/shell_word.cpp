// Quotes words and escapes control characters.
#include "rehmc/core/shell_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rehmc {

namespace {

/// The length of the valid UTF-8 sequence that the text begins with; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i, unsigned least = 0x80, unsigned most = 0xbf) {
    return byte(i) >= least && byte(i) <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    // Neither overlong forms nor surrogates.
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// The character of a valid sequence.
char32_t character_of(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  char32_t character = first & (0xffU >> (sequence.size() + 1));
  for (const char next : sequence.substr(1)) {
    character = character << 6U | (static_cast<unsigned char>(next) & 0x3fU);
  }
  return character;
}

/// Whether a sequence is a control character, C0 or C1; or one that breaks the line or changes the
/// direction of the text around it, so that a name could look like another.
bool is_control(std::string_view sequence) {
  const char32_t c = character_of(sequence);
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool direction = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069);
  return control || direction || c == 0x2028 || c == 0x2029;
}

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+=./:,@%^").find(c) != std::string_view::npos;
}

/// Calls `take(sequence)` for every character; for a byte that begins none, the sequence is empty
/// and `take(sequence, byte)` gets the byte.
template <class Take>
void for_each_character(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    take(text.substr(0, length), static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
}

}  // namespace

std::string visible(std::string_view text) {
  std::string shown;
  for_each_character(text, [&](std::string_view sequence, unsigned char byte) {
    if (sequence.empty()) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", byte);
    } else if (is_control(sequence) && sequence != "\n" && sequence != "\t") {
      fmt::format_to(std::back_inserter(shown), "\\u{:04x}",
                     static_cast<unsigned>(character_of(sequence)));
    } else {
      shown += sequence;
    }
  });
  return shown;
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, needs_no_quotes)) return std::string(text);
  bool plain = true;
  for_each_character(text, [&](std::string_view sequence, unsigned char) {
    plain = plain && !sequence.empty() && !is_control(sequence);
  });
  // $'...' is the only form that can show a control character.
  std::string word = plain ? "'" : "$'";
  for_each_character(text, [&](std::string_view sequence, unsigned char byte) {
    if (plain) {
      word += sequence == "'" ? "'\\''" : sequence;
    } else if (sequence.empty() || is_control(sequence)) {
      for (const char c : sequence.empty() ? std::string_view() : sequence) {
        fmt::format_to(std::back_inserter(word), "\\x{:02x}", static_cast<unsigned char>(c));
      }
      if (sequence.empty()) fmt::format_to(std::back_inserter(word), "\\x{:02x}", byte);
    } else {
      if (sequence == "'" || sequence == "\\") word += '\\';
      word += sequence;
    }
  });
  return word + "'";
}

}  // namespace rehmc
