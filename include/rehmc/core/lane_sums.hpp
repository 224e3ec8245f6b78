// Sums whose order is the same for every width of vector registers.
#pragma once

#include <array>
#include <cstddef>

namespace rehmc {

/// The sums over i < n of the `count` numbers that terms(i) gives. Term i is added to partial sum i
/// modulo 8, which compilers do in registers of any width; the partial sums are added in one order.
template <std::size_t count, class Terms>
std::array<double, count> lane_sums(std::size_t n, const Terms& terms) {
  constexpr std::size_t lanes = 8;
  double parts[count][lanes] = {};
  std::size_t begin = 0;
  for (; begin + lanes <= n; begin += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::array<double, count> term = terms(begin + lane);
      for (std::size_t k = 0; k < count; ++k) parts[k][lane] += term[k];
    }
  }
  for (std::size_t lane = 0; lane + 1 < lanes && begin + lane < n; ++lane) {
    const std::array<double, count> term = terms(begin + lane);
    for (std::size_t k = 0; k < count; ++k) parts[k][lane] += term[k];
  }
  std::array<double, count> sums;
  for (std::size_t k = 0; k < count; ++k) {
    const double* const p = parts[k];
    sums[k] = ((p[0] + p[4]) + (p[1] + p[5])) + ((p[2] + p[6]) + (p[3] + p[7]));
  }
  return sums;
}

/// The sum of term(i) over i < n, likewise.
template <class Term>
double lane_sum(std::size_t n, const Term& term) {
  return lane_sums<1>(n, [&](std::size_t i) { return std::array<double, 1>{term(i)}; })[0];
}

}  // namespace rehmc
