// Windowed paths of leapfrog steps.
#include "windows_kernel.hpp"

#include "makers.hpp"
#include "rehmc/dynamics/leapfrog.hpp"

namespace rehmc {

std::unique_ptr<Kernel> make_windows(Density density, const KernelSettings& settings) {
  return std::make_unique<WindowsKernel<Leapfrog>>(std::move(density), settings);
}

}  // namespace rehmc
