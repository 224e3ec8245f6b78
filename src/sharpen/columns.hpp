// Private to sharpen/: names for the columns of regressions; no other file computes an offset.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <numeric>
#include <vector>

namespace rehmc::stein {

using Index = Eigen::Index;
inline Index to_index(std::size_t i) { return static_cast<Index>(i); }

/// Columns of a matrix that stand side by side.
struct ColumnRange {
  Index first = 0;
  Index count = 0;

  Index end() const { return first + count; }
  Index operator[](Index k) const { return first + k; }
  /// These columns of a matrix.
  template <class Matrix>
  auto of(Matrix& matrix) const {
    return matrix.middleCols(first, count);
  }
  std::vector<Index> list() const {
    std::vector<Index> columns(static_cast<std::size_t>(count));
    std::iota(columns.begin(), columns.end(), first);
    return columns;
  }
};

/// The own features of a scalar, coordinate by coordinate: for each, first those of the fields that
/// are powers of z (the constant field, then growing ones), then those of thresholds.
struct OwnColumns {
  Index powers = 0;      ///< per coordinate, the constant field among them
  Index thresholds = 0;  ///< per coordinate
  Index coordinates = 1;

  Index count() const { return coordinates * (powers + thresholds); }
  ColumnRange of_coordinate(Index coordinate) const {
    return {coordinate * (powers + thresholds), powers + thresholds};
  }
  ColumnRange of_powers(Index coordinate) const {
    return {of_coordinate(coordinate).first, powers};
  }
  ColumnRange of_thresholds(Index coordinate) const {
    return {of_powers(coordinate).end(), thresholds};
  }
};

/// What features are to explain: y, y^2, and the indicator of every threshold.
struct TargetColumns {
  static constexpr Index mean = 0;
  static constexpr Index square = 1;
  static constexpr ColumnRange moments{0, 2};
  Index thresholds = 0;

  ColumnRange indicators() const { return {moments.end(), thresholds}; }
  Index count() const { return indicators().end(); }
};

/// All columns of one scalar's regressions in one fold: features, then targets.
struct ScalarColumns {
  OwnColumns own;
  Index difference_count = 0;  ///< the moments of all states less those of the kept ones
  Index row_count = 0;         ///< features of fields that grow with other coordinates
  TargetColumns target;

  ColumnRange differences() const { return {own.count(), difference_count}; }
  ColumnRange rows() const { return {differences().end(), row_count}; }
  ColumnRange features() const { return {0, rows().end()}; }
  ColumnRange targets() const { return {features().end(), target.count()}; }
  ColumnRange indicators() const {
    return {targets()[target.indicators().first], target.indicators().count};
  }
  Index count() const { return targets().end(); }

  ScalarColumns with_rows(Index rows) const { return {own, difference_count, rows, target}; }
};

/// The columns that all scalars of a fold share.
struct SharedGroups {
  std::vector<Index> coordinates;  ///< those whose gradients are shared
  ColumnRange linear;              ///< the gradients of these coordinates
  ColumnRange virial;              ///< the scales of blocks
  ColumnRange quadratic;           ///< fields z_k C e_i; only where the quadratic set is fitted
};

}  // namespace rehmc::stein
