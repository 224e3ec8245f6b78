// Maker of HMC with paths of fixed or random length.
#pragma once

#include <memory>

#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

std::unique_ptr<Kernel> make_path_hmc(Density density, const KernelSettings& settings);

}  // namespace rehmc
