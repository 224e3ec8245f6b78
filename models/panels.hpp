// Products of one matrix with many chains at once, a few of its rows at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "models/aligned_vector.hpp"

namespace rehmc {

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

}  // namespace rehmc
