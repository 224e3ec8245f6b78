// Multiplications and additions that wait for nothing; compiled for every set of instructions.
#pragma once

#include "bench/peak_loops.hpp"

namespace rehmc::REHMC_INSTRUCTIONS {

PeakLoop peak_loop() {
  constexpr std::size_t sums = 12;
  constexpr std::size_t width = REHMC_REGISTER_WIDTH;
  using Register [[gnu::vector_size(width * sizeof(double))]] = double;
  return {2 * sums * width, [](std::size_t turns) {
            Register sum[sums] = {};
            const Register factor = Register{} + 0.5;
            for (std::size_t i = 0; i < turns; ++i) {
#pragma GCC unroll 12
              for (std::size_t k = 0; k < sums; ++k) sum[k] = sum[k] * factor + factor;
            }
            Register total{};
            for (const Register& each : sum) total += each;
            return total[0];
          }};
}

}  // namespace rehmc::REHMC_INSTRUCTIONS
