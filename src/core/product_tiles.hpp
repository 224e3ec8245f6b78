// Private to core/: the tiles of a matrix product, by instructions (cmake/Instructions.cmake).
#pragma once

#include <cstddef>

namespace rehmc {

/// Multiplies `rows` x depth numbers a with depth x `columns` numbers b, of which those of one
/// depth lie side by side, and adds factor times the sums to columns `stride` apart. a is aligned
/// to 64 bytes.
struct ProductTile {
  std::size_t rows;
  std::size_t columns;
  void (*add)(std::size_t depth, const double* a, const double* b, double factor, double* to,
              std::size_t stride);
};
inline constexpr std::size_t most_tile_numbers = 24 * 8;

namespace baseline {
ProductTile product_tile();
}
namespace avx2 {
ProductTile product_tile();
}
namespace avx512 {
ProductTile product_tile();
}

}  // namespace rehmc
