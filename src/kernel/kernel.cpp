// Makes kernels, and checks their settings.
#include "rehmc/kernel/kernel.hpp"

#include <fmt/format.h>

#include "makers.hpp"
#include "rehmc/core/error.hpp"

namespace rehmc {

void KernelSettings::check() const {
  traits(kind);
  recycling.check();
  check_settings(nuts);
  check_settings(hmc);
  if (hmc.jitter_most < hmc.jitter_least) {
    throw ConfigError(
        fmt::format("setting jitter_most: found {}, must be at least jitter_least = {}",
                    hmc.jitter_most, hmc.jitter_least));
  }
  if (hmc.path_steps_most > 0 && hmc.path_steps == 0) {
    throw ConfigError(
        fmt::format("setting path_steps_most: found {} without path_steps; set path_steps to the "
                    "least number of steps, or path_steps_most to 0",
                    hmc.path_steps_most));
  }
  if (hmc.path_steps_most > 0 && hmc.path_steps_most < hmc.path_steps) {
    throw ConfigError(
        fmt::format("setting path_steps_most: found {}, must be 0 or at least path_steps = {}",
                    hmc.path_steps_most, hmc.path_steps));
  }
}

bool KernelSettings::masses_differ() const {
  return traits(kind).settings == SettingsGroup::hmc && hmc.weight_by_steps;
}

std::unique_ptr<Kernel> make_kernel(Density density, const KernelSettings& settings) {
  return maker(settings.kind)(std::move(density), settings);
}

}  // namespace rehmc
