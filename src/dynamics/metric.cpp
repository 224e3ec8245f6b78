// Unit, diagonal, dense and low-rank metrics.
#include "rehmc/dynamics/metric.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/products.hpp"

namespace rehmc {

namespace {

class UnitMetric final : public Metric {
 public:
  explicit UnitMetric(std::size_t dimension) : dimension_(dimension) {}
  MetricKind kind() const override { return MetricKind::unit; }
  MassShape shape() const override { return MassShape::identity; }
  std::size_t dimension() const override { return dimension_; }
  void draw_momentum(Stream& stream, std::span<double> momentum) const override {
    stream.fill_normal(momentum);
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    std::copy(x.begin(), x.end(), result.begin());
  }
  void mass_times(std::span<const double> x, std::span<double> result) const override {
    std::copy(x.begin(), x.end(), result.begin());
  }
  std::vector<double> inverse_diagonal() const override {
    return std::vector<double>(dimension_, 1.0);
  }
  std::vector<double> numbers() const override { return {}; }

 private:
  std::size_t dimension_;
};

class DiagonalMetric final : public Metric {
 public:
  explicit DiagonalMetric(std::span<const double> inverse_mass)
      : inverse_(inverse_mass.begin(), inverse_mass.end()), root_(inverse_mass.size()) {
    for (std::size_t i = 0; i < inverse_mass.size(); ++i) {
      if (!(inverse_mass[i] > 0) || !std::isfinite(inverse_mass[i])) {
        throw ConfigError(fmt::format(
            "diagonal metric: entry {} is {}; every entry must be a positive, finite variance",
            i + 1, inverse_mass[i]));
      }
      root_[i] = 1 / std::sqrt(inverse_mass[i]);
    }
  }
  MetricKind kind() const override { return MetricKind::diagonal; }
  MassShape shape() const override { return MassShape::diagonal; }
  std::size_t dimension() const override { return inverse_.size(); }
  void draw_momentum(Stream& stream, std::span<double> momentum) const override {
    stream.fill_normal(momentum);
    for (std::size_t i = 0; i < root_.size(); ++i) momentum[i] *= root_[i];
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    for (std::size_t i = 0; i < inverse_.size(); ++i) result[i] = inverse_[i] * x[i];
  }
  void mass_times(std::span<const double> x, std::span<double> result) const override {
    for (std::size_t i = 0; i < inverse_.size(); ++i) result[i] = x[i] / inverse_[i];
  }
  std::vector<double> inverse_diagonal() const override { return inverse_; }
  std::vector<double> numbers() const override { return inverse_; }

 private:
  std::vector<double> inverse_;  ///< M^{-1}
  std::vector<double> root_;     ///< M^{1/2}
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

class DenseMetric final : public Metric {
 public:
  DenseMetric(std::size_t dimension, std::span<const double> inverse_mass) {
    const auto d = static_cast<Eigen::Index>(dimension);
    inverse_mass_ = Eigen::Map<const Eigen::MatrixXd>(inverse_mass.data(), d, d);
    check_entries(inverse_mass_);
    cholesky_.compute(inverse_mass_);
    if (cholesky_.info() != Eigen::Success) {
      throw ConfigError("dense metric: not positive definite; use more draws or a diagonal metric");
    }
  }
  MetricKind kind() const override { return MetricKind::dense; }
  MassShape shape() const override { return MassShape::matrix; }
  std::size_t dimension() const override { return static_cast<std::size_t>(inverse_mass_.rows()); }
  // M^{-1} = L L', so p = L'^{-1} z has variance M.
  void draw_momentum(Stream& stream, std::span<double> momentum) const override {
    stream.fill_normal(momentum);
    Vector p(momentum.data(), inverse_mass_.rows());
    cholesky_.matrixU().solveInPlace(p);
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    multiply_square(inverse_mass_.data(), dimension(), x.data(), result.data());
  }
  void mass_times(std::span<const double> x, std::span<double> result) const override {
    const auto d = inverse_mass_.rows();
    Vector(result.data(), d).noalias() = cholesky_.solve(ConstVector(x.data(), d));
  }
  std::vector<double> inverse_diagonal() const override {
    return {inverse_mass_.diagonal().begin(), inverse_mass_.diagonal().end()};
  }
  std::vector<double> numbers() const override {
    return {inverse_mass_.data(), inverse_mass_.data() + inverse_mass_.size()};
  }

 private:
  Eigen::MatrixXd inverse_mass_;
  Eigen::LLT<Eigen::MatrixXd> cholesky_;
};

class LowRankMetric final : public Metric {
 public:
  explicit LowRankMetric(DiagonalPlusLowRank inverse_mass)
      : inverse_mass_(std::move(inverse_mass)) {}
  MetricKind kind() const override { return MetricKind::low_rank; }
  MassShape shape() const override { return MassShape::matrix; }
  std::size_t dimension() const override { return inverse_mass_.dimension(); }
  void draw_momentum(Stream& stream, std::span<double> momentum) const override {
    stream.fill_normal(momentum);
    inverse_mass_.apply_inverse_root(momentum, momentum);
  }
  void inverse_mass_times(std::span<const double> x, std::span<double> result) const override {
    inverse_mass_.apply(x, result);
  }
  void mass_times(std::span<const double> x, std::span<double> result) const override {
    inverse_mass_.apply_inverse(x, result);
  }
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
  DiagonalPlusLowRank inverse_mass_;
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

std::shared_ptr<const Metric> make_dense_metric(std::size_t dimension,
                                                std::span<const double> inverse_mass) {
  if (dimension == 0) throw ConfigError("dense metric: dimension 0, must be at least 1");
  // The square of a stored dimension may overflow.
  if (inverse_mass.size() % dimension != 0 || inverse_mass.size() / dimension != dimension) {
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
