// Chooses the passes by the instructions in use.
#include "rehmc/dynamics/leapfrog_passes.hpp"

#include "rehmc/core/variants.hpp"

namespace rehmc {

// Compiled from velocity_passes.hpp (cmake/Instructions.cmake).
namespace baseline {
const LeapfrogPasses* make_passes(const Metric& metric);
}
#ifdef REHMC_ALL_INSTRUCTIONS
namespace avx2 {
const LeapfrogPasses* make_passes(const Metric& metric);
}
namespace avx512 {
const LeapfrogPasses* make_passes(const Metric& metric);
}
#endif

LeapfrogPasses::~LeapfrogPasses() = default;

std::unique_ptr<const LeapfrogPasses> make_leapfrog_passes(const Metric& metric) {
  return std::unique_ptr<const LeapfrogPasses>(REHMC_VARIANT_IN_USE(make_passes)(metric));
}

}  // namespace rehmc
