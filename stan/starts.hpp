// Starting points on the scales of the parameters as the program declares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rehmc/model/bridge.hpp"

namespace rehmc::stan {

struct StartSettings {
  std::uint64_t seed = 0;
  std::size_t chains = 1;
  double radius = 2;  ///< what is not given is drawn from (-radius, radius), without constraints
};

/// One point for every chain from a JSON object {"tau": 1, "theta": [1, 2]}, or from an array of
/// such objects, one per chain. Parameters may be left out. DataError names the file (`file` is for
/// messages) and what is wrong.
std::vector<std::vector<double>> read_starts(const std::string& text, const std::string& file,
                                             const BridgeDensity& model,
                                             const StartSettings& settings);

}  // namespace rehmc::stan
