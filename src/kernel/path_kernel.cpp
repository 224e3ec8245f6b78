// HMC with leapfrog steps.
#include "path_kernel.hpp"

#include "makers.hpp"
#include "rehmc/dynamics/leapfrog.hpp"

namespace rehmc {

std::unique_ptr<Kernel> make_path_hmc(Density density, const KernelSettings& settings) {
  return std::make_unique<PathKernel<Leapfrog>>(std::move(density), settings);
}

}  // namespace rehmc
