// The model of the processor, to be reported with measured times.
#pragma once

#include <fstream>
#include <string>

namespace rehmc::bench {

/// As named in /proc/cpuinfo; "unknown" if it is not.
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
