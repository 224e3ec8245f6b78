// A tile of a matrix product, whose sums stay in registers; compiled for every set of instructions.
#pragma once

#include <cstddef>

#include "product_tiles.hpp"

namespace rehmc::REHMC_INSTRUCTIONS {

namespace {

constexpr std::size_t register_width = REHMC_REGISTER_WIDTH;
using Register [[gnu::vector_size(register_width * sizeof(double)), gnu::may_alias]] = double;
using Unaligned
    [[gnu::vector_size(register_width * sizeof(double)), gnu::aligned(8), gnu::may_alias]] = double;

// As many sums as fit into the registers of the machine, beside the factors.
constexpr std::size_t registers = register_width == 2 ? 2 : 3;
constexpr std::size_t columns = register_width == 8 ? 8 : 4;

void add_tile(std::size_t depth, const double* a, const double* b, double factor, double* to,
              std::size_t stride) {
  Register sum[columns][registers] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Register left[registers];
#pragma GCC unroll 3
    for (std::size_t r = 0; r < registers; ++r) {
      left[r] = *reinterpret_cast<const Register*>(a + r * register_width);
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < columns; ++c) {
#pragma GCC unroll 3
      for (std::size_t r = 0; r < registers; ++r) sum[c][r] += left[r] * b[c];
    }
    a += registers * register_width;
    b += columns;
  }
#pragma GCC unroll 8
  for (std::size_t c = 0; c < columns; ++c) {
#pragma GCC unroll 3
    for (std::size_t r = 0; r < registers; ++r) {
      Unaligned* const entries = reinterpret_cast<Unaligned*>(to + c * stride + r * register_width);
      *entries += factor * sum[c][r];
    }
  }
}

}  // namespace

ProductTile product_tile() { return {registers * register_width, columns, add_tile}; }

}  // namespace rehmc::REHMC_INSTRUCTIONS
