// Converts JSON with bare NaN and infinities, as in Stan's data, to valid JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc {

/// The text with bare NaN, nan, Infinity and Inf, signed or not, put in quotes, which every reader
/// of Stan's data accepts.
class QuotedJson {
 public:
  explicit QuotedJson(std::string_view text);

  const std::string& text() const { return text_; }

  /// The position of a byte of the quoted text in the original text.
  std::size_t original(std::size_t byte) const;

 private:
  std::string text_;
  std::vector<std::size_t> quotes_;  ///< where quotes were added
};

}  // namespace rehmc
