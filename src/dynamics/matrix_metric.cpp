// Dense and low-rank metrics: the velocity is carried along, so a step takes one product.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "lanes.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/dynamics/metric.hpp"

namespace rehmc {

namespace {

using lanes::at;

/// A momentum block holds p, then the velocity v = M^{-1} p, then M^{-1} g, then room for a
/// product's own use if it needs some. Since M^{-1} is linear, v_half = v + step/2 M^{-1} g and
/// v_new = v_half + step/2 M^{-1} g_new: the velocity form of leapfrog, with M^{-1} g_new as its
/// only product.
class MatrixMetric : public Metric {
 public:
  explicit MatrixMetric(std::size_t dimension)
      : dimension_(dimension), n_(padded(dimension)), stride_(vector_stride(dimension)) {}

  std::size_t dimension() const override { return dimension_; }
  std::size_t momentum_vectors() const override { return 3; }
  double draw_momentum(Stream& stream, const double* gradient, double* momentum) const override {
    stream.fill_normal({momentum, dimension_});
    momentum_from_normal(momentum);
    multiply(momentum, momentum + stride_);
    multiply(gradient, momentum + 2 * stride_);
    return lanes::kinetic_energy(n_, lanes::StoredVelocity{stride_}, momentum);
  }

  void drift(double step, const PhaseView& from, double* new_position) const override {
    const double half = 0.5 * step;
    const double* velocity = from.momentum + stride_;
    const double* product = from.momentum + 2 * stride_;
    for (std::size_t i = 0; i < n_; i += lanes::width) {
      at(new_position, i) = at(from.position, i) + step * (at(velocity, i) + half * at(product, i));
    }
  }

  double kick_and_drift(double step, const PhaseView& from, const ReachedState& to,
                        double* next_position) const override {
    const double half = 0.5 * step;
    const double* velocity = from.momentum + stride_;
    const double* product = from.momentum + 2 * stride_;
    double* new_velocity = to.momentum + stride_;
    double* new_product = to.momentum + 2 * stride_;
    multiply(to.gradient, new_product);
    return 0.5 * lanes::sum_groups(n_, [&](std::size_t i) {
             const lanes::Lanes p =
                 at(from.momentum, i) + half * (at(from.gradient, i) + at(to.gradient, i));
             const lanes::Lanes v = at(velocity, i) + half * (at(product, i) + at(new_product, i));
             at(to.momentum, i) = p;
             at(new_velocity, i) = v;
             at(next_position, i) = at(to.position, i) + step * (v + half * at(new_product, i));
             return p * v;
           });
  }

  double inner_product(const double* left, const double* right) const override {
    return lanes::inner_product(n_, lanes::StoredVelocity{stride_}, left, right);
  }
  JoinProducts join_pairs(const RunMomenta& left, const RunMomenta& right,
                          double* sum) const override {
    return lanes::join_pairs(n_, lanes::StoredVelocity{stride_}, left, right, sum);
  }
  JoinProducts join(const RunMomenta& left, const RunMomenta& right, double* sum) const override {
    return lanes::join(n_, lanes::StoredVelocity{stride_}, left, right, sum);
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    multiply(x.data(), result.data());
  }

 protected:
  /// M^{-1} x.
  virtual void multiply(const double* x, double* result) const = 0;
  /// Turns a standard normal vector, in place, into p with variance M.
  virtual void momentum_from_normal(double* momentum) const = 0;

 private:
  std::size_t dimension_;
  std::size_t n_;
  std::size_t stride_;
};

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

/// Throws ConfigError for an entry that no covariance has. A Cholesky decomposition by itself does
/// not notice NaN, and reads one half of the matrix only.
void check_entries(const Eigen::MatrixXd& matrix) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    if (std::isfinite(matrix(i, i)) && !(matrix(i, i) > 0)) {
      throw ConfigError(fmt::format("dense metric: not positive definite, variance {} is {}", i + 1,
                                    matrix(i, i)));
    }
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double entry = matrix(i, j);
      const double mirrored = matrix(j, i);
      if (!std::isfinite(entry) || !std::isfinite(mirrored)) {
        throw ConfigError(fmt::format(
            "dense metric: entries ({0}, {1}) and ({1}, {0}) are {2} and {3}; all must be finite",
            i + 1, j + 1, entry, mirrored));
      }
      // On the scale of the two coordinates: others may be far larger.
      const double scale = std::sqrt(matrix(i, i)) * std::sqrt(matrix(j, j));
      if (std::abs(entry - mirrored) > 1e-8 * scale) {
        throw ConfigError(fmt::format(
            "dense metric: not symmetric, entries ({0}, {1}) and ({1}, {0}) are {2} and {3}", i + 1,
            j + 1, entry, mirrored));
      }
    }
  }
}

class DenseMetric final : public MatrixMetric {
 public:
  DenseMetric(std::size_t dimension, std::span<const double> inverse_mass)
      : MatrixMetric(dimension) {
    const auto d = static_cast<Eigen::Index>(dimension);
    inverse_mass_ = Eigen::Map<const Eigen::MatrixXd>(inverse_mass.data(), d, d);
    check_entries(inverse_mass_);
    cholesky_.compute(inverse_mass_);
    if (cholesky_.info() != Eigen::Success) {
      throw ConfigError("dense metric: not positive definite; use more draws or a diagonal metric");
    }
  }
  MetricKind kind() const override { return MetricKind::dense; }
  std::vector<double> inverse_diagonal() const override {
    return {inverse_mass_.diagonal().begin(), inverse_mass_.diagonal().end()};
  }
  std::vector<double> numbers() const override {
    return {inverse_mass_.data(), inverse_mass_.data() + inverse_mass_.size()};
  }

 private:
  void multiply(const double* x, double* result) const override {
    const auto d = inverse_mass_.rows();
    Vector(result, d).noalias() = inverse_mass_ * ConstVector(x, d);
  }
  // M^{-1} = L L', so p = L'^{-1} z has variance M.
  void momentum_from_normal(double* momentum) const override {
    Vector p(momentum, inverse_mass_.rows());
    cholesky_.matrixU().solveInPlace(p);
  }

  Eigen::MatrixXd inverse_mass_;
  Eigen::LLT<Eigen::MatrixXd> cholesky_;
};

class LowRankMetric final : public MatrixMetric {
 public:
  explicit LowRankMetric(DiagonalPlusLowRank inverse_mass)
      : MatrixMetric(inverse_mass.dimension()), inverse_mass_(std::move(inverse_mass)) {}
  MetricKind kind() const override { return MetricKind::low_rank; }
  std::vector<double> inverse_diagonal() const override { return inverse_mass_.diagonal(); }
  std::vector<double> numbers() const override {
    std::vector<double> all;
    for (const auto part :
         {inverse_mass_.scale(), inverse_mass_.directions(), inverse_mass_.stretch()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  void multiply(const double* x, double* result) const override {
    inverse_mass_.apply({x, dimension()}, {result, dimension()});
  }
  void momentum_from_normal(double* momentum) const override {
    inverse_mass_.apply_inverse_root({momentum, dimension()}, {momentum, dimension()});
  }

  DiagonalPlusLowRank inverse_mass_;
};

}  // namespace

std::shared_ptr<const Metric> make_dense_metric(std::size_t dimension,
                                                std::span<const double> inverse_mass) {
  if (dimension == 0) throw ConfigError("dense metric: dimension 0, must be at least 1");
  if (inverse_mass.size() != dimension * dimension) {
    throw ConfigError(fmt::format("dense metric: found {} numbers, expected {} x {}",
                                  inverse_mass.size(), dimension, dimension));
  }
  return std::make_shared<DenseMetric>(dimension, inverse_mass);
}

std::shared_ptr<const Metric> make_low_rank_metric(DiagonalPlusLowRank inverse_mass) {
  return std::make_shared<LowRankMetric>(std::move(inverse_mass));
}

std::shared_ptr<const Metric> make_metric(MetricKind kind, std::size_t dimension,
                                          std::span<const double> numbers) {
  const auto expect = [&](std::size_t count) {
    if (numbers.size() == count) return;
    throw ConfigError(fmt::format("{} metric: found {} numbers, expected {}", describe(kind),
                                  numbers.size(), count));
  };
  switch (kind) {
    case MetricKind::unit:
      expect(0);
      return make_unit_metric(dimension);
    case MetricKind::diagonal:
      expect(dimension);
      return make_diagonal_metric(numbers);
    case MetricKind::dense:
      return make_dense_metric(dimension, numbers);
    case MetricKind::low_rank:
      break;
  }
  const std::size_t rank =
      numbers.size() < dimension ? 0 : (numbers.size() - dimension) / (dimension + 1);
  expect(dimension + rank * (dimension + 1));
  const auto part = [&](std::size_t begin, std::size_t size) {
    const auto of = numbers.subspan(begin, size);
    return std::vector<double>(of.begin(), of.end());
  };
  return make_low_rank_metric({part(0, dimension), part(dimension, rank * dimension),
                               part(dimension + rank * dimension, rank)});
}

std::string_view describe(MetricKind kind) noexcept {
  switch (kind) {
    case MetricKind::unit:
      return "unit";
    case MetricKind::diagonal:
      return "diagonal";
    case MetricKind::dense:
      return "dense";
    case MetricKind::low_rank:
      return "low-rank";
  }
  return "unknown";
}

}  // namespace rehmc
