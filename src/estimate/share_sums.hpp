// Compares every state with as many thresholds as a register holds; compiled for all instructions.
#pragma once

#include <cstddef>

namespace rehmc::REHMC_INSTRUCTIONS {

/// See shares_below(). Each threshold has a sum of its own, so that their number changes no bit.
void sum_shares(const double* states, const double* weights, const std::size_t* ends,
                std::size_t draws, const double* thresholds, std::size_t count, double* shares) {
  constexpr std::size_t width = REHMC_REGISTER_WIDTH;
  using Register [[gnu::vector_size(width * sizeof(double))]] = double;
  for (std::size_t first = 0; first < count; first += width) {
    const std::size_t here = count - first < width ? count - first : width;
    Register limits{};
    for (std::size_t t = 0; t < here; ++t) limits[t] = thresholds[first + t];
    std::size_t k = 0;
    for (std::size_t n = 0; n < draws; ++n) {
      Register sums{};
      for (; k < ends[n]; ++k) sums += limits >= states[k] ? weights[k] + Register{} : Register{};
      for (std::size_t t = 0; t < here; ++t) shares[(first + t) * draws + n] = sums[t];
    }
  }
}

}  // namespace rehmc::REHMC_INSTRUCTIONS
