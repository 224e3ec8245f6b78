// A density for chains whose checkpoints are fuzzed, and their settings.
#pragma once

#include <cstddef>
#include <span>

#include "rehmc/model/log_density.hpp"
#include "rehmc/run/sample_settings.hpp"

namespace rehmc::fuzz {

struct Normal {
  std::size_t dimension() const { return 2; }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = -x[i];
    return -0.5 * (x[0] * x[0] + x[1] * x[1]);
  }
};

/// Short, so that checkpoints are small.
inline SampleSettings settings_of_chain() {
  SampleSettings settings;
  settings.chains = 1;
  settings.warmup.iterations = 30;
  settings.draws = 5;
  return settings;
}

}  // namespace rehmc::fuzz
