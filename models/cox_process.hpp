// A log-Gaussian Cox process on a square grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/aligned_vector.hpp"

namespace rehmc {

/// The fixed hyper-parameters; the defaults are those of Girolami and Calderhead (2011).
struct CoxSettings {
  std::size_t size = 64;           ///< cells along each side of the unit square
  double length_scale = 1.0 / 33;  ///< l
  double variance = 1.91;          ///< sigma^2
  double expected_points = 126;    ///< in the whole square; mu = log of this - sigma^2 / 2
};

/// Counts y_ij ~ Poisson(exp(x_ij) / m^2) in the cells of an m x m grid, where x is a Gaussian
/// process with mean mu and covariance sigma^2 exp(-sqrt((i - i')^2 + (j - j')^2) / (m l)): the
/// last test case of Nishimura and Dunson (2020), after Girolami and Calderhead (2011, JRSS B 73,
/// section 9).
///
/// The covariance is the same in a mirror. Sums and differences of cells that mirror each other in
/// either axis are therefore independent, and the precision matrix falls into four blocks with a
/// quarter of the rows each, two of which are equal.
class CoxProcess {
 public:
  /// Counts row by row. ConfigError for settings out of range, DataError for a number of counts
  /// other than size * size.
  CoxProcess(const CoxSettings& settings, std::span<const std::uint64_t> counts);

  double operator()(std::span<const double> x, std::span<double> gradient);
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
  AlignedVector folded_;  ///< scratch: x - mu in sums and differences
  AlignedVector pulls_;   ///< scratch: the precision matrix times that
};

/// Counts from the model itself, row by row. ConfigError for settings out of range.
std::vector<std::uint64_t> simulate_cox_counts(const CoxSettings& settings, std::uint64_t seed);

}  // namespace rehmc
