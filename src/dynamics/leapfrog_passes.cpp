// Chooses the passes by the instructions in use.
#include "rehmc/dynamics/leapfrog_passes.hpp"

#include "rehmc/core/instructions.hpp"

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
#ifdef REHMC_ALL_INSTRUCTIONS
  switch (instructions()) {
    case Instructions::avx512:
      return std::unique_ptr<const LeapfrogPasses>(avx512::make_passes(metric));
    case Instructions::avx2:
      return std::unique_ptr<const LeapfrogPasses>(avx2::make_passes(metric));
    case Instructions::baseline:
      break;
  }
#endif
  return std::unique_ptr<const LeapfrogPasses>(baseline::make_passes(metric));
}

}  // namespace rehmc
