// Targets of warmup_bench: built-in models, regressions, and densities that are hard to tune for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc::bench {

struct WarmupTarget {
  std::string name;
  std::function<Density()> make;
};

/// All targets, built-in ones among them. `credit`: the file german.data-numeric.
std::vector<WarmupTarget> warmup_targets(const std::string& credit);

}  // namespace rehmc::bench
