// Reads the model of the processor from /proc/cpuinfo.
#include "rehmc/core/processor.hpp"

#include <fstream>

namespace rehmc {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace rehmc
