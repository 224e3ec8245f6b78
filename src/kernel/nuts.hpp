// Makers of the two kinds of NUTS.
#pragma once

#include <memory>

#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

std::unique_ptr<Kernel> make_multinomial_nuts(Density density, const KernelSettings& settings);
std::unique_ptr<Kernel> make_slice_nuts(Density density, const KernelSettings& settings);

}  // namespace rehmc
