// Symmetric paths of leapfrog steps.
#include "symmetric_kernel.hpp"

#include "makers.hpp"
#include "rehmc/dynamics/leapfrog.hpp"

namespace rehmc {

std::unique_ptr<Kernel> make_symmetric(Density density, const KernelSettings& settings) {
  return std::make_unique<SymmetricKernel<Leapfrog>>(std::move(density), settings);
}

}  // namespace rehmc
