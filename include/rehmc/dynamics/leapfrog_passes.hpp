// The fused passes of leapfrog steps over padded vectors, chosen by the shape of the metric.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "rehmc/dynamics/metric.hpp"
#include "rehmc/dynamics/segment.hpp"

namespace rehmc {

/// The vectors of a phase point; `momentum` is a block as described at LeapfrogPasses.
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

/// The momenta of the two ends of a segment, and the sum over the segment.
struct SegmentMomenta {
  const double* first;
  const double* last;
  const double* sum;
};

/// Vectors are padded with zeros and aligned (dynamics/pool.hpp). A momentum is a block of
/// `momentum_vectors()` vectors, vector_stride(d) apart: p first; where M^{-1} is a matrix, the
/// velocity M^{-1} p and M^{-1} times the gradient follow, so that a step takes a single product.
class LeapfrogPasses {
 public:
  virtual ~LeapfrogPasses();

  virtual std::size_t momentum_vectors() const = 0;

  /// Completes the block of a momentum p that was drawn at a state with this gradient; returns the
  /// kinetic energy p' M^{-1} p / 2.
  virtual double begin(const double* gradient, double* momentum) const = 0;

  /// Where a step leads: x + step M^{-1} (p + step/2 g), the first two lines of eq. (1.2) of
  /// Nishimura & Dunson (2020).
  virtual void drift(double step, const PhaseView& from, double* new_position) const = 0;

  /// Ends a step with the last line of eq. (1.2) of Nishimura & Dunson (2020), p_new = p + step/2
  /// (g + g_new), and begins the next one in the same pass: another step of the same size leads to
  /// `next_position`. Returns the kinetic energy.
  virtual double kick_and_drift(double step, const PhaseView& from, const ReachedState& to,
                                double* next_position) const = 0;

  /// M^{-1} p, of d numbers.
  virtual void velocity(const double* momentum, std::span<double> result) const = 0;

  /// Inner product of the velocity of one momentum with another; symmetric, since M is.
  virtual double inner_product(const double* left, const double* right) const = 0;

  /// Joins two segments of two states each, whose sums need not have been written: writes the sum
  /// over all four. The segments' own `sum` is ignored.
  virtual JoinProducts join_pairs(const SegmentMomenta& left, const SegmentMomenta& right,
                                  double* sum) const = 0;
  /// Joins two longer segments. `sum` may be the left segment's own sum.
  virtual JoinProducts join(const SegmentMomenta& left, const SegmentMomenta& right,
                            double* sum) const = 0;
};

/// The passes for a metric, which must outlive them.
std::unique_ptr<const LeapfrogPasses> make_leapfrog_passes(const Metric& metric);

}  // namespace rehmc
