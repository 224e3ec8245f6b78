// The operator S (I + U (Lambda - I) U') S: a diagonal matrix stretched along a few directions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehmc {

/// A = S (I + U (Lambda - I) U') S with S = diag(scale), U of `rank` orthonormal columns, and
/// Lambda = diag(stretch). Symmetric and positive definite; a product with it costs O(dimension *
/// rank).
///
/// Products write into `out`, which may be the same memory as x. They never allocate, and one
/// operator may serve many threads at once.
class DiagonalPlusLowRank {
 public:
  /// `directions` holds the columns of U one after the other: dimension * rank numbers. Throws
  /// ConfigError if a size or a sign is wrong, or if U is not orthonormal (to 1e-8).
  DiagonalPlusLowRank(std::vector<double> scale, std::vector<double> directions,
                      std::vector<double> stretch);

  std::size_t dimension() const noexcept { return scale_.size(); }
  std::size_t rank() const noexcept { return stretch_.size(); }
  std::span<const double> scale() const noexcept { return scale_; }
  std::span<const double> directions() const noexcept { return directions_; }
  std::span<const double> stretch() const noexcept { return stretch_; }

  /// out = A x.
  void apply(std::span<const double> x, std::span<double> out) const;

  /// out = A^-1 x.
  void apply_inverse(std::span<const double> x, std::span<double> out) const;

  /// out = S^-1 (I + U (Lambda^-1/2 - I) U') x, so that a standard normal x becomes N(0, A^-1).
  void apply_inverse_root(std::span<const double> x, std::span<double> out) const;

  std::vector<double> diagonal() const;

  /// log det A.
  double log_determinant() const noexcept { return log_determinant_; }

 private:
  /// v <- (I + U diag(gain) U') v.
  void stretch_along_directions(std::span<double> v, std::span<const double> gain) const;

  std::vector<double> scale_;
  std::vector<double> directions_;
  std::vector<double> stretch_;
  std::vector<double> gain_;               // stretch - 1
  std::vector<double> inverse_gain_;       // stretch^-1 - 1
  std::vector<double> inverse_root_gain_;  // stretch^-1/2 - 1
  double log_determinant_;
};

}  // namespace rehmc
