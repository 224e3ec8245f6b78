// Makes kernels, and checks their settings.
#include "rehmc/kernel/kernel.hpp"

#include <fmt/format.h>

#include "makers.hpp"
#include "rehmc/core/error.hpp"

namespace rehmc {

namespace {

/// A trajectory that ends at a large energy error would not have ended there seen from its other
/// states. On a slice this is exact, because no state beyond the limit is acceptable. Elsewhere it
/// biases the chain by about exp(-limit), the weight of such a state relative to the start: nothing
/// at 10 (5e-5), but everything at 0.5.
void check_energy_limit(const KernelSettings& settings) {
  constexpr double least = 10;
  const KernelTraits& kernel = traits(settings.kind);
  const double limit = kernel.settings == SettingsGroup::nuts ? settings.nuts.max_energy_error
                                                              : settings.hmc.max_energy_error;
  if (kernel.equal_weights || kernel.settings == SettingsGroup::own || limit >= least) return;
  throw ConfigError(fmt::format(
      "setting max_energy_error: found {}, expected at least {} for kernel {}, whose "
      "draws a smaller limit would bias; only kernel {} allows it",
      limit, least, describe(settings.kind), kernel_names(&KernelTraits::equal_weights)));
}

/// Settings that only some kernels have are errors with the others.
void check_group_of_kernel(const KernelSettings& settings) {
  const KernelTraits& kernel = traits(settings.kind);
  const auto refuse = [&](std::string_view name, double value, bool KernelTraits::*trait) {
    throw ConfigError(fmt::format("setting {}: found {}, but kernel {} has no such setting; use {}",
                                  name, value, describe(settings.kind), kernel_names(trait)));
  };
  const HmcSettings& path = settings.hmc;
  if (path.momentum_kept > 0 && !kernel.keeps_momentum) {
    refuse("momentum_kept", path.momentum_kept, &KernelTraits::keeps_momentum);
  }
  if (path.window > 0 && !kernel.has_windows) {
    refuse("window", path.window, &KernelTraits::has_windows);
  }
  if (path.path_steps > 0 && 2 * path.window > path.path_steps + 1) {
    throw ConfigError(fmt::format(
        "setting window: found {}, but the {}path has {} states, and its two windows must not "
        "overlap: use at most {}, or more path_steps",
        path.window, path.path_steps_most > path.path_steps ? "shortest " : "", path.path_steps + 1,
        (path.path_steps + 1) / 2));
  }
}

}  // namespace

void KernelSettings::check() const {
  traits(kind);
  recycling.check();
  check_settings(nuts);
  check_settings(hmc);
  check_energy_limit(*this);
  check_group_of_kernel(*this);
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
  const bool random = hmc.path_steps > 0 ? hmc.path_steps_most > hmc.path_steps
                                         : hmc.jitter_most > hmc.jitter_least;
  return traits(kind).settings == SettingsGroup::hmc && random && !hmc.weight_by_draws;
}

std::unique_ptr<Kernel> make_kernel(Density density, const KernelSettings& settings) {
  return maker(settings.kind)(std::move(density), settings);
}

}  // namespace rehmc
