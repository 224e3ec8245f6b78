// Many chains side by side in vector registers; compiled for every set of instructions.
//
// Inline functions that other files may share must not be called here other than inlined.
#pragma once

#include <cstddef>
#include <type_traits>

#include "models/scratch.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::REHMC_INSTRUCTIONS::chain_lanes {

// As many chains as a register of the machine holds numbers. (Not the lanes of dynamics, which hold
// coordinates of one chain.) No chain's bits depend on it.
inline constexpr std::size_t width = REHMC_REGISTER_WIDTH;
inline constexpr std::size_t machine_registers = width == 8 ? 32 : 16;
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

template <class RowType>
RowType constant_row(double value) {
  RowType row;
  for (std::size_t c = 0; c < RowType::chains; ++c) row.data()[c] = value;
  return row;
}

/// This many rows, in memory that is reused by calls with any number of registers.
template <class RowType>
RowType* rows_in(AlignedVector& memory, std::size_t count) {
  return reinterpret_cast<RowType*>(room_for(count * RowType::chains, memory));
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
      constexpr std::size_t most = registers * width;
      const std::size_t count = left < most ? left : most;
      visit(std::type_identity<Row<registers>>{}, Bundle{first, count});
      first += count;
    };
    if (widest == 4 && left > 3 * width) {
      take(std::integral_constant<std::size_t, widest>{});
    } else if (widest >= 2 && left > width) {
      take(std::integral_constant<std::size_t, (widest < 2 ? widest : 2)>{});
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
    const std::size_t end = first + square;
    const std::size_t last = end < coordinates ? end : coordinates;
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t i = first; i < last; ++i) visit(c, i);
    }
  }
}

/// Rows of the coordinates of a bundle, of whose columns `column(c)` is number c; lanes without a
/// column get zeros.
template <class Column, class RowType>
void gather(const Column& column, const Bundle& bundle, std::size_t coordinates, RowType* rows) {
  if (bundle.columns < RowType::chains) {
    for (std::size_t i = 0; i < coordinates; ++i) rows[i] = RowType{};
  }
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

}  // namespace rehmc::REHMC_INSTRUCTIONS::chain_lanes
