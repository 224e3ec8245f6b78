// Kernels of users besides those of the table.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// A kernel that is not in the table: its name for users, what makes it, and its traits.
struct NamedKernel {
  std::string name;
  std::function<std::unique_ptr<Kernel>(Density, const KernelSettings&)> make;
  KernelTraits traits;
};

/// From now on this kernel can be named like one of the table, by every program that is linked with
/// it: in settings, and in manifests, so that runs with it can be resumed. Register it before
/// chains run, in every program that reads its runs. ConfigError if the name is taken or has other
/// characters than lower-case letters, digits and `-`.
KernelKind register_kernel(NamedKernel kernel);

}  // namespace rehmc
