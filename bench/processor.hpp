// The model of the processor, without which a measured time says little.
#pragma once

#include <fstream>
#include <string>

namespace rehmc::bench {

/// As /proc/cpuinfo names it; "unknown" where it does not.
inline std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace rehmc::bench
