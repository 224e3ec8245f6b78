// How fast one core can compute at most.
#pragma once

#include <cstddef>

namespace rehmc {

struct PeakLoop {
  std::size_t flops;  ///< of one turn
  double (*run)(std::size_t turns);
};

// Compiled from peak_loop.hpp (cmake/Instructions.cmake).
namespace baseline {
PeakLoop peak_loop();
}
namespace avx2 {
PeakLoop peak_loop();
}
namespace avx512 {
PeakLoop peak_loop();
}

}  // namespace rehmc
