// Bytes as lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc::fuzz {

inline std::vector<std::string> lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    lines.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return lines;
}

}  // namespace rehmc::fuzz
