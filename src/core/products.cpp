// Packs parts of both factors so that tiles read memory in its order.
//
// As in Goto & van de Geijn (2008), but with a fixed depth: it decides about the order of sums.
#include "rehmc/core/products.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "product_tiles.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/variants.hpp"

namespace rehmc {

namespace {

constexpr std::size_t depth_at_once = 256;
/// Columns of b that are packed together: 512 KB.
constexpr std::size_t columns_at_once = 256;

/// Memory that one thread keeps, aligned for every register.
class Scratch {
 public:
  double* of(std::size_t count) {
    if (count > count_) {
      memory_.reset(
          static_cast<double*>(::operator new[](count * sizeof(double), std::align_val_t{64})));
      count_ = count;
    }
    return memory_.get();
  }

 private:
  struct Deleter {
    void operator()(double* data) const { ::operator delete[](data, std::align_val_t{64}); }
  };
  std::unique_ptr<double[], Deleter> memory_;
  std::size_t count_ = 0;
};

/// Copies `rows` numbers of each column, `step` apart, to places `height` apart.
inline void copy_columns(const double* from, std::size_t step, std::size_t rows, std::size_t height,
                         std::size_t depth, double* to) {
  // A few at a time, since a call of memcpy costs more than such short copies.
  for (std::size_t k = 0; k < depth; ++k, from += step, to += height) {
    std::size_t i = 0;
    for (; i + 8 <= rows; i += 8) std::memcpy(to + i, from + i, 8 * sizeof(double));
    for (; i + 4 <= rows; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(double));
    for (; i < rows; ++i) to[i] = from[i];
  }
}

/// Rows [first, first + height) of some columns, those of one column side by side; 0 beyond the
/// end.
void pack_panel(const MatrixView& from, std::size_t first, std::size_t height, std::size_t begin,
                std::size_t depth, double* to) {
  const std::size_t rows = std::min(height, from.rows - first);
  if (rows < height) std::fill_n(to, height * depth, 0.0);
  const double* const data = from.data + first * from.row_step + begin * from.column_step;
  if (from.row_step == 1) {
    hot_loop([=, step = from.column_step] { copy_columns(data, step, rows, height, depth, to); });
    return;
  }
  // A few rows at a time, so that what is written stays in the cache.
  hot_loop([=, row_step = from.row_step, column_step = from.column_step] {
    constexpr std::size_t part = 32;
    for (std::size_t k = 0; k < depth; k += part) {
      const std::size_t end = std::min(k + part, depth);
      for (std::size_t i = 0; i < rows; ++i) {
        const double* const row = data + i * row_step;
        for (std::size_t l = k; l < end; ++l) to[l * height + i] = row[l * column_step];
      }
    }
  });
}

struct Extent {
  std::size_t first;
  std::size_t count;
};

class Product {
 public:
  Product(double factor, const MatrixView& a, const MatrixView& b, const ProductView& to,
          ProductPart part)
      : factor_(factor),
        a_(a),
        b_(b.transposed()),
        to_(to),
        part_(part),
        tile_(REHMC_VARIANT_IN_USE(product_tile)()) {}

  void add() {
    for (std::size_t k = 0; k < a_.columns; k += depth_at_once) {
      const Extent depth{k, std::min(depth_at_once, a_.columns - k)};
      for (std::size_t j = 0; j < b_.rows; j += columns_at_once) {
        add_block(depth, {j, std::min(columns_at_once, b_.rows - j)});
      }
    }
  }

 private:
  void add_block(const Extent& depth, const Extent& columns) {
    thread_local Scratch of_a;
    thread_local Scratch of_b;
    const std::size_t panels = (columns.count + tile_.columns - 1) / tile_.columns;
    const std::size_t panel_size = tile_.columns * depth.count;
    double* const b = of_b.of(panels * panel_size);
    for (std::size_t p = 0; p < panels; ++p) {
      pack_panel(b_, columns.first + p * tile_.columns, tile_.columns, depth.first, depth.count,
                 b + p * panel_size);
    }
    double* const a = of_a.of(tile_.rows * depth.count);
    for (std::size_t i = 0; i < a_.rows; i += tile_.rows) {
      if (part_ == ProductPart::lower && i + tile_.rows <= columns.first) continue;
      pack_panel(a_, i, tile_.rows, depth.first, depth.count, a);
      for (std::size_t p = 0; p < panels; ++p) {
        const std::size_t j = columns.first + p * tile_.columns;
        if (part_ == ProductPart::lower && j >= i + tile_.rows) break;
        add_tile(depth.count, a, b + p * panel_size, i, j);
      }
    }
  }

  void add_tile(std::size_t depth, const double* a, const double* b, std::size_t i, std::size_t j) {
    double* const to = to_.data + j * to_.stride + i;
    const std::size_t rows = std::min(tile_.rows, a_.rows - i);
    const std::size_t columns = std::min(tile_.columns, b_.rows - j);
    if (rows == tile_.rows && columns == tile_.columns) {
      tile_.add(depth, a, b, factor_, to, to_.stride);
      return;
    }
    // At an edge: the same in a whole tile, of which a part is used.
    double whole[most_tile_numbers] = {};
    for (std::size_t c = 0; c < columns; ++c) {
      std::copy_n(to + c * to_.stride, rows, whole + c * tile_.rows);
    }
    tile_.add(depth, a, b, factor_, whole, tile_.rows);
    for (std::size_t c = 0; c < columns; ++c) {
      std::copy_n(whole + c * tile_.rows, rows, to + c * to_.stride);
    }
  }

  double factor_;
  MatrixView a_;
  MatrixView b_;  ///< transposed, so that both are packed by rows
  ProductView to_;
  ProductPart part_;
  ProductTile tile_;
};

}  // namespace

void add_product(double factor, const MatrixView& a, const MatrixView& b, const ProductView& to,
                 ProductPart part) {
  Product(factor, a, b, to, part).add();
}

void multiply_square(const double* m, std::size_t d, const double* x, double* to) {
  hot_loop([&] {
    std::fill_n(to, d, 0.0);
    std::size_t j = 0;
    // Four columns at a time: the result is then read and written less often.
    for (; j + 4 <= d; j += 4) {
      const double* const a = m + j * d;
      const double* const b = a + d;
      const double* const c = b + d;
      const double* const e = c + d;
#pragma omp simd
      for (std::size_t i = 0; i < d; ++i) {
        to[i] = (((to[i] + a[i] * x[j]) + b[i] * x[j + 1]) + c[i] * x[j + 2]) + e[i] * x[j + 3];
      }
    }
    for (; j < d; ++j) {
      const double* const a = m + j * d;
#pragma omp simd
      for (std::size_t i = 0; i < d; ++i) to[i] += a[i] * x[j];
    }
  });
}

}  // namespace rehmc
