// A grid of cells with mirror images, and matrices on it: what batches of a Cox process read.
#pragma once

#include <array>
#include <cstddef>
#include <numbers>
#include <span>

#include "models/aligned_vector.hpp"
#include "models/panels.hpp"

namespace rehmc {

struct Batch;

/// Even and odd combinations of cells: for a line v_0, ..., v_{m-1} they are (v_k + v_{m-1-k}) /
/// sqrt(2) and (v_k - v_{m-1-k}) / sqrt(2), and v_k itself in the middle of an odd line. On a grid
/// they are taken along both axes, an orthogonal map of R^{m m} into four blocks: even-even,
/// even-odd, odd-even (transposed, so that it has the same covariance as the one before) and
/// odd-odd.
class Mirror {
 public:
  explicit Mirror(std::size_t size) : size_(size), even_((size + 1) / 2), odd_(size / 2) {}

  std::size_t cells() const { return size_ * size_; }
  std::size_t even() const { return even_; }
  std::size_t odd() const { return odd_; }
  /// The beginnings of the blocks, and the end of the last.
  std::array<std::size_t, 5> begins() const {
    return {0, even_ * even_, even_ * size_, even_ * size_ + even_ * odd_, cells()};
  }
  std::size_t opposite(std::size_t k) const { return size_ - 1 - k; }
  /// The cell in the middle mirrors itself and would count twice.
  double share(std::size_t k) const { return k == opposite(k) ? 1 / std::numbers::sqrt2 : 1; }

  /// Of numbers, or of rows of them.
  template <class Value>
  void fold(const Value* x, Value* folded) const {
    for_quarter([&](const Images& at) {
      const Value a = x[at.here], b = x[at.right], c = x[at.below], d = x[at.across];
      folded[at.even_even] = at.row_share * at.column_share * 0.5 * (a + b + c + d);
      if (at.has_right) folded[at.even_odd] = at.row_share * 0.5 * (a - b + c - d);
      if (at.has_below) folded[at.odd_even] = at.column_share * 0.5 * (a + b - c - d);
      if (at.has_right && at.has_below) folded[at.odd_odd] = 0.5 * (a - b - c + d);
    });
  }

  /// Adds the folded numbers to x, with a sign.
  template <class Value>
  void add_unfolded(double sign, const Value* folded, Value* x) const {
    const double half = sign * 0.5;
    for_quarter([&](const Images& at) {
      const Value ee = at.row_share * at.column_share * half * folded[at.even_even];
      const Value eo = at.has_right ? at.row_share * half * folded[at.even_odd] : Value{};
      const Value oe = at.has_below ? at.column_share * half * folded[at.odd_even] : Value{};
      const Value oo = at.has_right && at.has_below ? half * folded[at.odd_odd] : Value{};
      // In the middle these are the same cell, which then gets both.
      x[at.here] += ee + eo + oe + oo;
      x[at.right] += ee - eo + oe - oo;
      x[at.below] += ee + eo - oe - oo;
      x[at.across] += ee - eo - oe + oo;
    });
  }

 private:
  /// A cell of the first quarter, its mirror images, and where their combinations are.
  struct Images {
    std::size_t here, right, below, across;
    std::size_t even_even, even_odd, odd_even, odd_odd;
    bool has_right, has_below;
    double row_share, column_share;
  };

  template <class Visit>
  void for_quarter(Visit visit) const {
    const std::array<std::size_t, 5> begin = begins();
    for (std::size_t k = 0; k < even_; ++k) {
      for (std::size_t l = 0; l < even_; ++l) {
        visit(Images{.here = k * size_ + l,
                     .right = k * size_ + opposite(l),
                     .below = opposite(k) * size_ + l,
                     .across = opposite(k) * size_ + opposite(l),
                     .even_even = begin[0] + k * even_ + l,
                     .even_odd = begin[1] + k * odd_ + l,
                     .odd_even = begin[2] + l * odd_ + k,
                     .odd_odd = begin[3] + k * odd_ + l,
                     .has_right = l < odd_,
                     .has_below = k < odd_,
                     .row_share = share(k),
                     .column_share = share(l)});
      }
    }
  }

  std::size_t size_;
  std::size_t even_;
  std::size_t odd_;
};

/// An upper triangular matrix for each of the blocks.
struct TriangularBlocks {
  TriangularPanels even_even;
  TriangularPanels mixed;
  TriangularPanels odd_odd;

  const TriangularPanels& operator[](std::size_t block) const {
    return block == 0 ? even_even : block == 3 ? odd_odd : mixed;
  }
};

/// What the batched calls of a Cox process need to know of it.
struct CoxGrid {
  Mirror mirror;
  double area;    ///< of a cell
  double mean;    ///< mu
  double lambda;  ///< the entries of Lambda, which are all the same
  AlignedVector counts;
  TriangularBlocks root;  ///< R with R' R = Sigma^{-1}; of the whitened process, A
};

/// Calls `visit(panel, first row of its block, first row, rows)` for every panel of the root.
template <class Visit>
void for_each_panel(const CoxGrid& grid, const Visit& visit) {
  const std::array<std::size_t, 5> begin = grid.mirror.begins();
  for (std::size_t block = 0; block < 4; ++block) {
    const TriangularPanels& panels = grid.root[block];
    for (std::size_t p = 0; p < panels.panels(); ++p) {
      const std::size_t top = begin[block] + p * TriangularPanels::height;
      const std::size_t left = begin[block + 1] - top;
      visit(panels.panel(p), begin[block], top,
            left < TriangularPanels::height ? left : TriangularPanels::height);
    }
  }
}

// Compiled from cox_batch.hpp (cmake/Instructions.cmake).
#define REHMC_DECLARE(instructions)                                                            \
  namespace instructions {                                                                     \
  void evaluate_cox(const CoxGrid& grid, const Batch& batch, AlignedVector& scratch);          \
  void evaluate_whitened_cox(const CoxGrid& grid, const Batch& batch, AlignedVector& scratch); \
  void colour_whitened_cox(const CoxGrid& grid, std::span<const std::span<const double>> u,    \
                           std::span<const std::span<double>> x, AlignedVector& scratch);      \
  }
REHMC_DECLARE(baseline)
REHMC_DECLARE(avx2)
REHMC_DECLARE(avx512)
#undef REHMC_DECLARE

}  // namespace rehmc
