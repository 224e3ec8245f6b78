// The data of a logistic likelihood as its loops read them.
#pragma once

#include <cstddef>

#include "models/aligned_vector.hpp"

namespace rehmc {

struct Batch;

/// x_i (2 y_i - 1), in tiles of rows, each tile column by column.
struct LogisticTiles {
  /// Rows of a tile: few enough that it is still in the L1 cache when it is read again.
  static constexpr std::size_t rows = 32;
  /// A product of this many factors in [1, 2] cannot overflow.
  static constexpr std::size_t most_factors = 1000;

  const double* entries;
  std::size_t count;
  std::size_t predictors;
  double padding;  ///< rows of zeros that fill the last tile
};

// Compiled from logistic_batch.hpp (cmake/Instructions.cmake): adds to the log densities and
// gradients of many points.
namespace baseline {
void add_logistic_batch(const LogisticTiles& tiles, const Batch& batch, AlignedVector& scratch);
}
namespace avx2 {
void add_logistic_batch(const LogisticTiles& tiles, const Batch& batch, AlignedVector& scratch);
}
namespace avx512 {
void add_logistic_batch(const LogisticTiles& tiles, const Batch& batch, AlignedVector& scratch);
}

}  // namespace rehmc
