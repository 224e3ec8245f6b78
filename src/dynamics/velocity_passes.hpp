// Leapfrog passes for unit and diagonal metrics, coordinate by coordinate, and for matrices.
//
// Compiled for every set of instructions. Inline functions that other files may share must not be
// called here other than inlined: the linker keeps one copy of them, which every processor must
// run.
#pragma once

#include "lanes.hpp"
#include "padded_diagonal.hpp"

namespace rehmc::REHMC_INSTRUCTIONS {

using lanes::at;
using lanes::Lanes;

/// The products that all passes compute alike, given a policy for velocities (lanes.hpp).
template <class Velocity>
class VelocityPasses : public LeapfrogPasses {
 public:
  VelocityPasses(std::size_t dimension, Velocity velocity)
      : dimension_(dimension), n_(padded(dimension)), velocity_(velocity) {}

  double inner_product(const double* left, const double* right) const override {
    return lanes::inner_product(n_, velocity_, left, right);
  }
  JoinProducts join_pairs(const SegmentMomenta& left, const SegmentMomenta& right,
                          double* sum) const override {
    return lanes::join_pairs(n_, velocity_, left, right, sum);
  }
  JoinProducts join(const SegmentMomenta& left, const SegmentMomenta& right,
                    double* sum) const override {
    return lanes::join(n_, velocity_, left, right, sum);
  }
  void velocity(const double* momentum, std::span<double> result) const override {
    for (std::size_t i = 0; i < n_; i += lanes::width) {
      const Lanes v = velocity_(at(momentum, i), momentum, i);
      for (std::size_t k = 0; k < lanes::width && i + k < dimension_; ++k) result[i + k] = v[k];
    }
  }

 protected:
  double kinetic_energy(const double* momentum) const {
    return lanes::kinetic_energy(n_, velocity_, momentum);
  }

  const std::size_t dimension_;
  const std::size_t n_;
  const Velocity velocity_;
};

template <class Velocity>
class ElementwisePasses : public VelocityPasses<Velocity> {
 public:
  using VelocityPasses<Velocity>::VelocityPasses;

  std::size_t momentum_vectors() const override { return 1; }
  double begin(const double*, double* momentum) const override {
    return this->kinetic_energy(momentum);
  }

  void drift(double step, const PhaseView& start, double* new_position) const override {
    const PhaseView from = start;
    const Velocity velocity = this->velocity_;
    const double half = 0.5 * step;
    for (std::size_t i = 0; i < this->n_; i += lanes::width) {
      const Lanes p = at(from.momentum, i) + half * at(from.gradient, i);
      at(new_position, i) = at(from.position, i) + step * velocity(p, from.momentum, i);
    }
  }

  double kick_and_drift(double step, const PhaseView& start, const ReachedState& end,
                        double* next_position) const override {
    // Copies, which nothing that is written can overlap: see lanes.hpp.
    const PhaseView from = start;
    const ReachedState to = end;
    const Velocity velocity = this->velocity_;
    const double half = 0.5 * step;
    return 0.5 * lanes::sum_groups(this->n_, [=](std::size_t i) {
             const Lanes gradient = at(to.gradient, i);
             const Lanes p = at(from.momentum, i) + half * (at(from.gradient, i) + gradient);
             at(to.momentum, i) = p;
             at(next_position, i) =
                 at(to.position, i) + step * velocity(p + half * gradient, to.momentum, i);
             return p * velocity(p, to.momentum, i);
           });
  }
};

using UnitPasses = ElementwisePasses<lanes::UnitVelocity>;

class DiagonalPasses final : private PaddedDiagonal,
                             public ElementwisePasses<lanes::DiagonalVelocity> {
 public:
  explicit DiagonalPasses(const Metric& metric)
      : PaddedDiagonal(metric), ElementwisePasses(metric.dimension(), {PaddedDiagonal::data()}) {}
};

/// A momentum block holds p, then the velocity v = M^{-1} p, then M^{-1} g. Since M^{-1} is linear,
/// v_half = v + step/2 M^{-1} g and v_new = v_half + step/2 M^{-1} g_new: the velocity form of
/// leapfrog, with M^{-1} g_new as its only product.
class MatrixPasses final : public VelocityPasses<lanes::StoredVelocity> {
 public:
  explicit MatrixPasses(const Metric& metric)
      : VelocityPasses(metric.dimension(), {vector_stride(metric.dimension())}),
        metric_(metric),
        stride_(vector_stride(metric.dimension())) {}

  std::size_t momentum_vectors() const override { return 3; }
  double begin(const double* gradient, double* momentum) const override {
    multiply(momentum, momentum + stride_);
    multiply(gradient, momentum + 2 * stride_);
    return kinetic_energy(momentum);
  }

  void drift(double step, const PhaseView& from, double* new_position) const override {
    const double half = 0.5 * step;
    const double* velocity = from.momentum + stride_;
    const double* product = from.momentum + 2 * stride_;
    for (std::size_t i = 0; i < n_; i += lanes::width) {
      at(new_position, i) = at(from.position, i) + step * (at(velocity, i) + half * at(product, i));
    }
  }

  double kick_and_drift(double step, const PhaseView& start, const ReachedState& end,
                        double* next_position) const override {
    const PhaseView from = start;
    const ReachedState to = end;
    const double half = 0.5 * step;
    const double* velocity = from.momentum + stride_;
    const double* product = from.momentum + 2 * stride_;
    double* new_velocity = to.momentum + stride_;
    double* new_product = to.momentum + 2 * stride_;
    multiply(to.gradient, new_product);
    return 0.5 * lanes::sum_groups(n_, [=](std::size_t i) {
             const Lanes p =
                 at(from.momentum, i) + half * (at(from.gradient, i) + at(to.gradient, i));
             const Lanes v = at(velocity, i) + half * (at(product, i) + at(new_product, i));
             at(to.momentum, i) = p;
             at(new_velocity, i) = v;
             at(next_position, i) = at(to.position, i) + step * (v + half * at(new_product, i));
             return p * v;
           });
  }

 private:
  void multiply(const double* x, double* result) const {
    metric_.inverse_mass_times({x, dimension_}, {result, dimension_});
  }

  const Metric& metric_;
  const std::size_t stride_;
};

const LeapfrogPasses* make_passes(const Metric& metric) {
  switch (metric.shape()) {
    case MassShape::identity:
      return new UnitPasses(metric.dimension(), lanes::UnitVelocity{});
    case MassShape::diagonal:
      return new DiagonalPasses(metric);
    case MassShape::matrix:
      break;
  }
  return new MatrixPasses(metric);
}

}  // namespace rehmc::REHMC_INSTRUCTIONS
