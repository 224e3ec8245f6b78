// Products of matrices whose bits are the same with all vector instructions.
#pragma once

#include <cstddef>

namespace rehmc {

/// A matrix in memory, by its entries' distances: entry (i, k) is data[i * row_step + k *
/// column_step]. Its transpose swaps the two.
struct MatrixView {
  const double* data;
  std::size_t rows;
  std::size_t columns;
  std::size_t row_step;
  std::size_t column_step;

  MatrixView transposed() const { return {data, columns, rows, column_step, row_step}; }
};

/// Where a product goes: column j begins at data + j * stride.
struct ProductView {
  double* data;
  std::size_t stride;
};

/// Those of matrices that lie by columns, with the names that Eigen gives their parts.
template <class Matrix>
MatrixView by_columns(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.rows()),
          static_cast<std::size_t>(matrix.cols()), 1,
          static_cast<std::size_t>(matrix.outerStride())};
}
template <class Matrix>
ProductView into(Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.outerStride())};
}

/// Which entries of a product are wanted; the others are undefined.
enum class ProductPart { all, lower };

/// Adds factor * a * b. Every entry sums 256 terms at a time, one after the other, so that its bits
/// depend neither on the instructions nor on the sizes of caches, nor on the other entries.
void add_product(double factor, const MatrixView& a, const MatrixView& b, const ProductView& to,
                 ProductPart part = ProductPart::all);

/// to = m x, for a matrix whose d columns of d numbers lie one after the other. Every entry sums
/// its terms one after the other.
void multiply_square(const double* m, std::size_t d, const double* x, double* to);

}  // namespace rehmc
