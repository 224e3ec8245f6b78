// Numbers as text, fast: the shortest digits that read back to the same bits.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <string>

namespace rehmc {

inline void append_number(std::string& to, double number) {
  if (std::isnan(number)) {  // std::to_chars would write the sign of a NaN, which readers reject
    to += "nan";
    return;
  }
  std::array<char, 32> text;
  to.append(text.data(), std::to_chars(text.begin(), text.end(), number).ptr);
}

void append_number(std::string& to, std::integral auto number) {
  std::array<char, 32> text;
  to.append(text.data(), std::to_chars(text.begin(), text.end(), number).ptr);
}

}  // namespace rehmc
