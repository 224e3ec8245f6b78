// Metrics: the mass matrix M of the momentum, and the algebra with it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rehmc/core/low_rank.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

enum class MetricKind { unit, diagonal, dense, low_rank };
/// For readers of stored values.
constexpr MetricKind greatest(MetricKind /*of*/) { return MetricKind::low_rank; }

std::string_view describe(MetricKind kind) noexcept;

/// How a product with M^{-1} is computed; dynamics choose their loops by it.
enum class MassShape {
  identity,  ///< M^{-1} x = x
  diagonal,  ///< coordinate by coordinate, by inverse_diagonal()
  matrix,    ///< as a whole, by inverse_mass_times()
};

/// A constant mass matrix M: p ~ N(0, M), velocity M^{-1} p.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual MetricKind kind() const = 0;
  virtual MassShape shape() const = 0;
  virtual std::size_t dimension() const = 0;

  /// Draws p ~ N(0, M).
  virtual void draw_momentum(Stream& stream, std::span<double> momentum) const = 0;

  /// result = M^{-1} x, of d numbers each, which need no padding; not the same memory.
  virtual void inverse_mass_times(std::span<const double> x, std::span<double> result) const = 0;

  /// result = M x, likewise.
  virtual void mass_times(std::span<const double> x, std::span<double> result) const = 0;

  /// Diagonal of M^{-1}.
  virtual std::vector<double> inverse_diagonal() const = 0;
  /// All that make_metric needs to restore the metric to the bit. Unit: nothing; diagonal: the
  /// diagonal of M^{-1}; dense: M^{-1} row by row; low rank: scale, directions, stretch.
  virtual std::vector<double> numbers() const = 0;
};

/// The metric that has these numbers. ConfigError where they do not fit.
std::shared_ptr<const Metric> make_metric(MetricKind kind, std::size_t dimension,
                                          std::span<const double> numbers);

/// M = I.
std::shared_ptr<const Metric> make_unit_metric(std::size_t dimension);

/// M^{-1} = diag(inverse_mass): estimates of the variances.
std::shared_ptr<const Metric> make_diagonal_metric(std::span<const double> inverse_mass);

/// M^{-1} given as a symmetric positive definite matrix, row by row: an estimate of the covariance.
std::shared_ptr<const Metric> make_dense_metric(std::size_t dimension,
                                                std::span<const double> inverse_mass);

/// M^{-1} = S (I + U (Lambda - I) U') S.
std::shared_ptr<const Metric> make_low_rank_metric(DiagonalPlusLowRank inverse_mass);

}  // namespace rehmc
