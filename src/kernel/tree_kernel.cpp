// The two kinds of NUTS with leapfrog steps: multinomial and slice.
#include "tree_kernel.hpp"

#include "makers.hpp"
#include "rehmc/dynamics/leapfrog.hpp"

namespace rehmc {

std::unique_ptr<Kernel> make_multinomial_nuts(Density density, const KernelSettings& settings) {
  return std::make_unique<TreeKernel<Leapfrog, SumTurning<Leapfrog>, MultinomialWeights>>(
      std::move(density), settings);
}

std::unique_ptr<Kernel> make_slice_nuts(Density density, const KernelSettings& settings) {
  return std::make_unique<TreeKernel<Leapfrog, DistanceTurning<Leapfrog>, SliceWeights>>(
      std::move(density), settings);
}

}  // namespace rehmc
