// The functions that make kernels, as the table of kernels names them.
#pragma once

#include <functional>
#include <memory>

#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

using KernelMaker = std::function<std::unique_ptr<Kernel>(Density, const KernelSettings&)>;

#define REHMC_KERNEL_MAKER(kind, name, make, ...) \
  std::unique_ptr<Kernel> make(Density density, const KernelSettings& settings);
REHMC_KERNELS(REHMC_KERNEL_MAKER)
#undef REHMC_KERNEL_MAKER

/// The maker of a kernel. ConfigError for an unknown kind.
KernelMaker maker(KernelKind kind);

}  // namespace rehmc
