// Integrals of smooth functions, for the exact moments and probabilities of the built-in targets.
#pragma once

#include <cstddef>

namespace rehmc {

/// Simpson's rule on 2 * panels intervals. For a smooth function that vanishes at both ends it is
/// as good as the trapezoidal rule, whose error falls faster than any power of the interval.
template <class Function>
double integrate(Function&& function, double from, double to, std::size_t panels = 1000) {
  const double width = (to - from) / static_cast<double>(2 * panels);
  double sum = function(from) + function(to);
  for (std::size_t i = 1; i < 2 * panels; ++i) {
    sum += (i % 2 == 0 ? 2 : 4) * function(from + width * static_cast<double>(i));
  }
  return sum * width / 3;
}

}  // namespace rehmc
