// Many chains side by side in vector registers, and products of one matrix with all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "models/aligned_vector.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::chain_lanes {

// As many chains as one register holds numbers of a machine that the whole program is built for.
// (Not the Lanes of dynamics: those hold coordinates of one chain, and their number fixes the order
// of sums; here it changes no bit.) __AVX512F__ and __AVX__ are hidden from Eigen, and so from us.
#ifdef __AVX512VL__
inline constexpr std::size_t width = 8;
inline constexpr std::size_t machine_registers = 32;
#else
#ifdef __F16C__  // all such processors have AVX
inline constexpr std::size_t width = 4;
#else
inline constexpr std::size_t width = 2;
#endif
inline constexpr std::size_t machine_registers = 16;
#endif
using Register [[gnu::vector_size(width * sizeof(double)), gnu::may_alias]] = double;

/// One number per chain, for this many registers of chains. What happens in a lane does not depend
/// on the number of registers: a chain never depends on the others that run with it.
template <std::size_t registers>
struct Row {
  Register lanes[registers];

  static constexpr std::size_t chains = registers * width;
  double* data() { return reinterpret_cast<double*>(lanes); }
  const double* data() const { return reinterpret_cast<const double*>(lanes); }

  Row& operator+=(const Row& other) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < registers; ++k) lanes[k] += other.lanes[k];
    return *this;
  }
  Row& operator-=(const Row& other) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < registers; ++k) lanes[k] -= other.lanes[k];
    return *this;
  }
  /// Adds a multiple of another row.
  void add(double factor, const Row& other) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < registers; ++k) lanes[k] += factor * other.lanes[k];
  }
  void add(const Row& factor, const Row& other) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < registers; ++k) lanes[k] += factor.lanes[k] * other.lanes[k];
  }
  friend Row operator+(Row left, const Row& right) { return left += right; }
  friend Row operator-(Row left, const Row& right) { return left -= right; }
  friend Row operator*(double factor, Row row) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < registers; ++k) row.lanes[k] = factor * row.lanes[k];
    return row;
  }
};

/// This many rows, in memory that is reused by calls with any number of registers.
template <class RowType>
RowType* rows_in(AlignedVector& memory, std::size_t count) {
  const std::size_t size = count * RowType::chains;
  if (size > memory.size()) memory = AlignedVector(size);
  return reinterpret_cast<RowType*>(memory.data());
}

/// Which columns of a batch are in one row.
struct Bundle {
  std::size_t first;
  std::size_t columns;
};

/// Registers of the widest row for which the sums of a panel of this many rows, one factor and one
/// entry fit into the machine's registers.
constexpr std::size_t widest_row(std::size_t panel_height) {
  std::size_t registers = 1;
  while (2 * registers * (panel_height + 1) < machine_registers) registers *= 2;
  return registers;
}

/// Distributes the columns over rows of at most this many registers, each as wide as it is filled,
/// and calls `visit(row type, bundle)`.
template <std::size_t widest, class Visit>
void for_each_bundle(std::size_t columns, Visit&& visit) {
  static_assert(widest == 1 || widest == 2 || widest == 4);
  std::size_t first = 0;
  while (first < columns) {
    const std::size_t left = columns - first;
    const auto take = [&]<std::size_t registers>(std::integral_constant<std::size_t, registers>) {
      const std::size_t count = std::min(left, registers * width);
      visit(std::type_identity<Row<registers>>{}, Bundle{first, count});
      first += count;
    };
    if (widest == 4 && left > 3 * width) {
      take(std::integral_constant<std::size_t, widest>{});
    } else if (widest >= 2 && left > width) {
      take(std::integral_constant<std::size_t, std::min<std::size_t>(widest, 2)>{});
    } else {
      take(std::integral_constant<std::size_t, 1>{});
    }
  }
}

/// Calls `visit(c, i)` for this many columns and coordinates, in small squares: columns on one side
/// are rows on the other, and both sides should stay in the cache.
template <class Visit>
void for_each_entry(std::size_t columns, std::size_t coordinates, Visit&& visit) {
  constexpr std::size_t square = 8;
  for (std::size_t first = 0; first < coordinates; first += square) {
    const std::size_t last = std::min(first + square, coordinates);
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t i = first; i < last; ++i) visit(c, i);
    }
  }
}

/// Rows of the coordinates of a bundle, of whose columns `column(c)` is number c; lanes without a
/// column get zeros.
template <class Column, class RowType>
void gather(const Column& column, const Bundle& bundle, std::size_t coordinates, RowType* rows) {
  if (bundle.columns < RowType::chains) std::fill_n(rows, coordinates, RowType{});
  for_each_entry(bundle.columns, coordinates, [&](std::size_t c, std::size_t i) {
    rows[i].data()[c] = column(bundle.first + c)[i];
  });
}

/// The reverse; lanes without a column are ignored.
template <class RowType, class Column>
void scatter(const RowType* rows, const Bundle& bundle, std::size_t coordinates,
             const Column& column) {
  for_each_entry(bundle.columns, coordinates, [&](std::size_t c, std::size_t i) {
    column(bundle.first + c)[i] = rows[i].data()[c];
  });
}

template <class RowType>
void gather_positions(const Batch& batch, const Bundle& bundle, std::size_t coordinates,
                      RowType* rows) {
  gather([&](std::size_t c) { return batch.positions + c * batch.stride; }, bundle, coordinates,
         rows);
}

template <class RowType>
void scatter_gradients(const RowType* rows, const Bundle& bundle, std::size_t coordinates,
                       const Batch& batch) {
  scatter(rows, bundle, coordinates,
          [&](std::size_t c) { return batch.gradients + c * batch.stride; });
}

/// Rows of a panel of a matrix: their sums over two registers of chains fit the machine's
/// registers.
inline constexpr std::size_t panel_height = 8;

/// Some rows of a matrix: column j, from `begin` up to `end`, has consecutive entries, `stride`
/// numbers after those of column j - 1. Every entry is read once for all chains.
template <std::size_t height>
struct Panel {
  const double* entries;
  std::size_t stride;
  std::size_t begin;
  std::size_t end;

  /// The panel times x.
  template <class RowType>
  void multiply(const RowType* x, RowType* result) const {
    RowType sums[height] = {};
    const double* entry = entries;
    for (std::size_t j = begin; j < end; ++j, entry += stride) {
      const RowType factor = x[j];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < height; ++i) sums[i].add(entry[i], factor);
    }
    for (std::size_t i = 0; i < height; ++i) result[i] = sums[i];
  }

  /// Adds the transpose of the panel, times x, to the result.
  template <class RowType>
  void add_transposed(const RowType* x, RowType* result) const {
    RowType factors[height];
    for (std::size_t i = 0; i < height; ++i) factors[i] = x[i];
    const double* entry = entries;
    for (std::size_t j = begin; j < end; ++j, entry += stride) {
      RowType sum = result[j];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < height; ++i) sum.add(entry[i], factors[i]);
      result[j] = sum;
    }
  }
};

/// An upper triangular matrix in panels, without the part below its diagonal.
class TriangularPanels {
 public:
  /// Low enough for wide rows: the fewer times a large matrix is read, the better.
  static constexpr std::size_t height = 6;

  /// `entry(i, j)` gives the entries, j >= i.
  template <class Entry>
  TriangularPanels(std::size_t size, Entry&& entry) : size_(size) {
    std::size_t count = 0;
    for (std::size_t top = 0; top < size; top += height) {
      begins_.push_back(count);
      count += (size - top) * height;
    }
    numbers_ = AlignedVector(count);
    for (std::size_t p = 0; p < panels(); ++p) {
      double* at = numbers_.data() + begins_[p];
      const std::size_t top = p * height;
      for (std::size_t j = top; j < size; ++j) {
        for (std::size_t i = top; i < top + height; ++i) *at++ = i <= j ? entry(i, j) : 0.0;
      }
    }
  }

  std::size_t panels() const { return begins_.size(); }
  Panel<height> panel(std::size_t p) const {
    return {numbers_.data() + begins_[p], height, p * height, size_};
  }

 private:
  std::size_t size_;
  std::vector<std::size_t> begins_;
  AlignedVector numbers_;
};

}  // namespace rehmc::chain_lanes
