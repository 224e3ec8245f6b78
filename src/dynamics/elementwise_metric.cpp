// Unit and diagonal metrics: everything happens coordinate by coordinate, in fused passes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/dynamics/metric.hpp"

namespace rehmc {

namespace {

using lanes::at;
using lanes::Lanes;

/// What both share, given the velocity policy of lanes.hpp.
template <class Derived>
class ElementwiseMetric : public Metric {
 public:
  explicit ElementwiseMetric(std::size_t dimension)
      : dimension_(dimension), n_(padded(dimension)) {}

  std::size_t dimension() const override { return dimension_; }
  std::size_t momentum_vectors() const override { return 1; }

  void drift(double step, const PhaseView& from, double* new_position) const override {
    const auto velocity = derived().velocity();
    const double half = 0.5 * step;
    for (std::size_t i = 0; i < n_; i += lanes::width) {
      const Lanes p = at(from.momentum, i) + half * at(from.gradient, i);
      at(new_position, i) = at(from.position, i) + step * velocity(p, from.momentum, i);
    }
  }

  double kick_and_drift(double step, const PhaseView& from, const ReachedState& to,
                        double* next_position) const override {
    const auto velocity = derived().velocity();
    const double half = 0.5 * step;
    return 0.5 * lanes::sum_groups(n_, [&](std::size_t i) {
             const Lanes gradient = at(to.gradient, i);
             const Lanes p = at(from.momentum, i) + half * (at(from.gradient, i) + gradient);
             at(to.momentum, i) = p;
             at(next_position, i) =
                 at(to.position, i) + step * velocity(p + half * gradient, to.momentum, i);
             return p * velocity(p, to.momentum, i);
           });
  }

  double inner_product(const double* left, const double* right) const override {
    return lanes::inner_product(n_, derived().velocity(), left, right);
  }
  JoinProducts join_pairs(const RunMomenta& left, const RunMomenta& right,
                          double* sum) const override {
    return lanes::join_pairs(n_, derived().velocity(), left, right, sum);
  }
  JoinProducts join(const RunMomenta& left, const RunMomenta& right, double* sum) const override {
    return lanes::join(n_, derived().velocity(), left, right, sum);
  }

 protected:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
  std::size_t n() const { return n_; }

 private:
  std::size_t dimension_;
  std::size_t n_;
};

class UnitMetric final : public ElementwiseMetric<UnitMetric> {
 public:
  using ElementwiseMetric::ElementwiseMetric;
  MetricKind kind() const override { return MetricKind::unit; }
  double draw_momentum(Stream& stream, const double*, double* momentum) const override {
    stream.fill_normal({momentum, dimension()});
    return lanes::kinetic_energy(n(), velocity(), momentum);
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    std::copy(x.begin(), x.end(), result.begin());
  }
  std::vector<double> inverse_diagonal() const override {
    return std::vector<double>(dimension(), 1.0);
  }
  std::vector<double> numbers() const override { return {}; }
  lanes::UnitVelocity velocity() const { return {}; }
};

class DiagonalMetric final : public ElementwiseMetric<DiagonalMetric> {
 public:
  explicit DiagonalMetric(std::span<const double> inverse_mass)
      : ElementwiseMetric(inverse_mass.size()), vectors_(2 * vector_stride(inverse_mass.size())) {
    double* inverse = vectors_.data(block_);
    double* root = inverse + vector_stride(dimension());
    for (std::size_t i = 0; i < inverse_mass.size(); ++i) {
      if (!(inverse_mass[i] > 0) || !std::isfinite(inverse_mass[i])) {
        throw ConfigError(fmt::format(
            "diagonal metric: entry {} is {}; every entry must be a positive, finite variance",
            i + 1, inverse_mass[i]));
      }
      inverse[i] = inverse_mass[i];
      root[i] = 1 / std::sqrt(inverse_mass[i]);
    }
  }
  MetricKind kind() const override { return MetricKind::diagonal; }
  double draw_momentum(Stream& stream, const double*, double* momentum) const override {
    stream.fill_normal({momentum, dimension()});
    const double* root = vectors_.data(block_) + vector_stride(dimension());
    for (std::size_t i = 0; i < n(); i += lanes::width) at(momentum, i) *= at(root, i);
    return lanes::kinetic_energy(n(), velocity(), momentum);
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    const double* inverse = vectors_.data(block_);
    for (std::size_t i = 0; i < dimension(); ++i) result[i] = inverse[i] * x[i];
  }
  std::vector<double> inverse_diagonal() const override {
    const double* inverse = vectors_.data(block_);
    return {inverse, inverse + dimension()};
  }
  std::vector<double> numbers() const override { return inverse_diagonal(); }
  lanes::DiagonalVelocity velocity() const { return {vectors_.data(block_)}; }

 private:
  BlockPool vectors_;  ///< one aligned, padded block: M^{-1}, then M^{1/2}
  BlockPool::Handle block_ = vectors_.take();
};

}  // namespace

std::shared_ptr<const Metric> make_unit_metric(std::size_t dimension) {
  if (dimension == 0) throw ConfigError("unit metric: dimension 0, must be at least 1");
  return std::make_shared<UnitMetric>(dimension);
}

std::shared_ptr<const Metric> make_diagonal_metric(std::span<const double> inverse_mass) {
  if (inverse_mass.empty()) throw ConfigError("diagonal metric: dimension 0, must be at least 1");
  return std::make_shared<DiagonalMetric>(inverse_mass);
}

}  // namespace rehmc
