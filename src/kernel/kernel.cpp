// The table of kernels, and the checks of their settings.
#include "rehmc/kernel/kernel.hpp"

#include <fmt/format.h>

#include <array>

#include "hmc.hpp"
#include "nuts.hpp"
#include "rehmc/core/error.hpp"

namespace rehmc {

void Tuning::archive(ArchiveWriter& archive) const {
  archive(step_size, metric->kind(), static_cast<std::uint64_t>(metric->dimension()),
          metric->numbers());
}

void Tuning::archive(ArchiveReader& archive) {
  archive(step_size);
  const auto kind = archive.get<MetricKind>();
  const auto dimension = static_cast<std::size_t>(archive.get<std::uint64_t>());
  metric = make_metric(kind, dimension, archive.get<std::vector<double>>());
}

namespace {

struct Registered {
  KernelKind kind;
  std::string_view name;
  std::unique_ptr<Kernel> (*make)(Density, const KernelSettings&);
};

// A new kernel is one file and one line here.
constexpr std::array kernels{Registered{KernelKind::nuts, "nuts", make_multinomial_nuts},
                             Registered{KernelKind::nuts_slice, "nuts-slice", make_slice_nuts},
                             Registered{KernelKind::hmc, "hmc", make_path_hmc}};

const Registered& find(KernelKind kind) {
  for (const Registered& kernel : kernels) {
    if (kernel.kind == kind) return kernel;
  }
  throw ConfigError(fmt::format("kernel: unknown kind {}", static_cast<int>(kind)));
}

}  // namespace

void KernelSettings::check() const {
  find(kind);
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

std::unique_ptr<Kernel> make_kernel(Density density, const KernelSettings& settings) {
  return find(settings.kind).make(std::move(density), settings);
}

KernelKind parse_kernel(std::string_view name) {
  std::string known;
  for (const Registered& kernel : kernels) {
    if (kernel.name == name) return kernel.kind;
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw ConfigError(fmt::format("kernel: found '{}', expected one of {}", name, known));
}

std::string_view describe(KernelKind kind) noexcept {
  for (const Registered& kernel : kernels) {
    if (kernel.kind == kind) return kernel.name;
  }
  return "unknown";
}

}  // namespace rehmc
