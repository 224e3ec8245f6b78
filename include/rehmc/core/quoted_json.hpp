// JSON with bare NaN and infinities, which Stan's data may have, made into JSON proper.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc {

/// The text with bare NaN, nan, Infinity and Inf, signed or not, put in quotes, as every reader of
/// Stan's data understands them.
class QuotedJson {
 public:
  explicit QuotedJson(std::string_view text);

  const std::string& text() const { return text_; }

  /// Where a byte of the quoted text was before.
  std::size_t original(std::size_t byte) const;

 private:
  std::string text_;
  std::vector<std::size_t> quotes_;  ///< where quotes were added
};

}  // namespace rehmc
