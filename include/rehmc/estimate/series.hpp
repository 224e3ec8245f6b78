// How draws are handed to the estimators: one strided series of numbers per chain.
#pragma once

#include <cstddef>
#include <span>

namespace rehmc {

/// One scalar along one chain. A column of a row-major matrix of draws has the number of columns as
/// its stride, so nothing needs to be copied to look at one parameter.
struct Series {
  const double* data = nullptr;
  std::size_t size = 0;
  std::ptrdiff_t stride = 1;

  double operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

/// The same scalar along every chain; the chains must be equally long.
using Chains = std::span<const Series>;

}  // namespace rehmc
