// A log-Gaussian Cox process on a square grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/aligned_vector.hpp"
#include "rehmc/core/quantity.hpp"

namespace rehmc {

struct Batch;
class Stream;

/// The fixed hyper-parameters; the defaults are those of Girolami and Calderhead (2011).
struct CoxSettings {
  std::size_t size = 64;           ///< cells along each side of the unit square
  double length_scale = 1.0 / 33;  ///< l
  double variance = 1.91;          ///< sigma^2
  double expected_points = 126;    ///< in the whole square; mu = log of this - sigma^2 / 2
};

/// Counts y_ij ~ Poisson(exp(x_ij) / m^2) in the cells of an m x m grid, where x is a Gaussian
/// process with mean mu and covariance sigma^2 exp(-sqrt((i - i')^2 + (j - j')^2) / (m l)): the
/// last test case of Nishimura & Dunson (2020), eqs. (5.4) and (5.5), after Girolami and Calderhead
/// (2011, JRSS B 73, section 9).
///
/// The covariance does not change under reflection. Sums and differences of cells that are mirror
/// images in either axis are therefore independent, and the precision matrix has four diagonal
/// blocks with a quarter of the rows each, two of which are equal.
class CoxProcess {
 public:
  /// Counts row by row. ConfigError for settings out of range, DataError for a number of counts
  /// other than size * size.
  CoxProcess(const CoxSettings& settings, std::span<const std::uint64_t> counts);

  double operator()(std::span<const double> x, std::span<double> gradient);
  void evaluate_batch(const Batch& batch);
  std::size_t dimension() const;
  std::vector<std::string> names() const;  ///< x.1.1, x.1.2, ..., row by row

  /// The constant metric of Girolami and Calderhead, G = Lambda + Sigma^{-1}, where Sigma is the
  /// covariance and Lambda diagonal with exp(mu + sigma^2) / m^2: with it as mass matrix, HMC is
  /// their Riemannian manifold HMC. All d * d entries.
  std::vector<double> mass_matrix() const;
  /// G^{-1}, which is what make_dense_metric takes.
  std::vector<double> inverse_mass_matrix() const;

 private:
  struct Field;
  std::shared_ptr<const Field> field_;
  AlignedVector folded_;  ///< scratch: x - mu in sums and differences; or all of a batch
  AlignedVector pulls_;   ///< scratch: the precision matrix times that
};

/// The same process in coordinates u in which its metric G is the unit metric: x = mu + A u, where
/// A A' = G^{-1}. HMC with the unit metric here is HMC with mass matrix G there, up to rounding,
/// without a product by G^{-1} in every step. Users read x.
///
/// Since Lambda is a multiple lambda of the identity, (x - mu)' Sigma^{-1} (x - mu) = |u|^2 -
/// lambda |x - mu|^2. The gradient in u is A' (y - e + lambda (x - mu)) - u, where e are the
/// expected counts given x. A is triangular in each block, so that both products together take no
/// more than one with a full matrix.
class WhitenedCoxProcess {
 public:
  /// As CoxProcess.
  WhitenedCoxProcess(const CoxSettings& settings, std::span<const std::uint64_t> counts);

  double operator()(std::span<const double> u, std::span<double> gradient);
  void evaluate_batch(const Batch& batch);
  std::size_t dimension() const;
  std::vector<std::string> names() const;    ///< u.1, u.2, ...
  std::vector<Quantity> quantities() const;  ///< x.1.1, x.1.2, ..., row by row
  void evaluate_quantities(std::span<const double> u, std::span<double> x, Stream* stream);
  void evaluate_quantities_batch(std::span<const std::span<const double>> u,
                                 std::span<const std::span<double>> x);

 private:
  struct Field;
  std::shared_ptr<const Field> field_;
  AlignedVector rows_;  ///< scratch of batches
};

/// Counts from the model itself, row by row. ConfigError for settings out of range.
std::vector<std::uint64_t> simulate_cox_counts(const CoxSettings& settings, std::uint64_t seed);

}  // namespace rehmc
