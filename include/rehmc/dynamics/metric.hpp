// Metrics: the mass matrix of the momentum, and the fused passes of a leapfrog step.
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

std::string_view describe(MetricKind kind) noexcept;

/// The vectors of a phase point; `momentum` is a block as described at Metric.
struct PhaseView {
  const double* position;
  const double* gradient;
  const double* momentum;
};

/// A state that a step has reached, whose momentum is still to be written.
struct ReachedState {
  const double* position;
  const double* gradient;
  double* momentum;
};

/// The momenta of the two ends of a run of states, and the sum over the run.
struct RunMomenta {
  const double* first;
  const double* last;
  const double* sum;
};

/// Inner products x' M^{-1} y across the joint of two adjacent runs: all that the turning criterion
/// needs beside what each run knows of itself.
struct JoinProducts {
  double left_first_right_sum;
  double left_last_right_sum;
  double right_first_left_sum;
  double right_last_left_sum;
  double firsts;  ///< the first momenta of both runs
  double lasts;   ///< the last momenta of both runs
};

/// A constant metric: p ~ N(0, M). Vectors are padded with zeros and aligned (dynamics/pool.hpp).
///
/// A momentum is a block of `momentum_vectors()` vectors, vector_stride(d) apart: p first; metrics
/// whose M^{-1} is expensive also keep the velocity M^{-1} p and M^{-1} times the gradient there,
/// so that a leapfrog step takes a single product.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual MetricKind kind() const = 0;
  virtual std::size_t dimension() const = 0;
  virtual std::size_t momentum_vectors() const = 0;

  /// Draws p ~ N(0, M) at a state with this gradient; returns the kinetic energy p' M^{-1} p / 2.
  virtual double draw_momentum(Stream& stream, const double* gradient, double* momentum) const = 0;

  /// Where a leapfrog step leads: x + step M^{-1} (p + step/2 g), the first two lines of eq. 2.
  virtual void drift(double step, const PhaseView& from, double* new_position) const = 0;

  /// Ends a step with its last line, p_new = p + step/2 (g + g_new), and in the same pass begins
  /// the next one: another step of the same size leads to `next_position`. Returns the kinetic
  /// energy.
  virtual double kick_and_drift(double step, const PhaseView& from, const ReachedState& to,
                                double* next_position) const = 0;

  /// Inner product p' M^{-1} q of two momenta.
  virtual double inner_product(const double* left, const double* right) const = 0;

  /// Joins two runs of two states each, whose sums need not have been written: writes the sum over
  /// all four. The runs' own `sum` is ignored.
  virtual JoinProducts join_pairs(const RunMomenta& left, const RunMomenta& right,
                                  double* sum) const = 0;
  /// Joins two longer runs. `sum` may be the left run's own sum.
  virtual JoinProducts join(const RunMomenta& left, const RunMomenta& right, double* sum) const = 0;

  /// result = M^{-1} x, of d numbers each, which need no padding; not the same memory.
  virtual void inverse_mass_times(std::span<const double> x, std::span<double> result) const = 0;

  /// Diagonal of M^{-1}; what a summary of the adaptation shows.
  virtual std::vector<double> inverse_diagonal() const = 0;
  /// All that make_metric needs to make it again, to the bit. Unit: nothing; diagonal: the diagonal
  /// of M^{-1}; dense: M^{-1} row by row; low rank: scale, directions, stretch.
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
