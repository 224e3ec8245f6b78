// Products of states, and Lanczos iterations for their leading eigenvectors.
#include "experiments/leading_component.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace rehmc::experiments {

namespace {

/// The Krylov space of a symmetric matrix, with full reorthogonalisation: for 250 rows several
/// times faster than computing all eigenvalues.
class Lanczos {
 public:
  Lanczos(const Eigen::MatrixXf& matrix, Eigen::Index steps)
      : matrix_(matrix),
        basis_(matrix.rows(), steps),
        diagonal_(steps),
        below_(steps),
        next_(matrix.diagonal().cwiseMax(0).cwiseSqrt()) {
    // Not orthogonal to any eigenvector by the symmetry of a matrix.
    for (Eigen::Index i = 0; i < next_.size(); ++i) {
      next_(i) *= 1 + 0.5F * std::sin(static_cast<float>(i));
    }
    next_.normalize();
  }

  /// False once the space is full.
  bool step() {
    if (size_ == basis_.cols()) return false;
    basis_.col(size_) = next_;
    next_ = matrix_.selfadjointView<Eigen::Lower>() * basis_.col(size_);
    diagonal_(size_) = static_cast<double>(basis_.col(size_).dot(next_));
    const auto seen = basis_.leftCols(size_ + 1);
    for (int pass = 0; pass < 2; ++pass) next_ -= seen * (seen.transpose() * next_);
    below_(size_) = static_cast<double>(next_.norm());
    if (below_(size_) > 0) next_ /= static_cast<float>(below_(size_));
    return below_(size_++) > 1e-6 * diagonal_(0);
  }

  void solve() {
    if (size_ == 1) {
      values_ = diagonal_.head(1);
      vectors_ = Eigen::MatrixXd::Ones(1, 1);
      return;
    }
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal_.head(size_), below_.head(size_ - 1));
    values_ = solver.eigenvalues().reverse();
    vectors_ = solver.eigenvectors().rowwise().reverse();
  }

  Eigen::Index size() const { return size_; }
  const Eigen::VectorXd& values() const { return values_; }  ///< in falling order
  /// The norm of the residual of a Ritz pair.
  double residual(Eigen::Index pair) const {
    return std::abs(below_(size_ - 1) * vectors_(size_ - 1, pair));
  }
  Eigen::MatrixXf vectors(Eigen::Index count) const {
    return basis_.leftCols(size_) * vectors_.leftCols(count).cast<float>();
  }

 private:
  const Eigen::MatrixXf& matrix_;
  Eigen::MatrixXf basis_;
  Eigen::VectorXd diagonal_;
  Eigen::VectorXd below_;
  Eigen::VectorXf next_;
  Eigen::Index size_ = 0;
  Eigen::VectorXd values_;
  Eigen::MatrixXd vectors_;
};

constexpr Eigen::Index most_steps = 200;
constexpr int look_every = 10;
/// Residual over the largest eigenvalue; the angle's error is this over the relative gap.
constexpr double precise = 1e-4;

/// The largest eigenvalues of a symmetric matrix, of which the lower triangle is read, in falling
/// order, down to the first below half of the largest (at most `most`), with their eigenvectors.
struct Eigenpairs {
  std::vector<double> values;
  Eigen::MatrixXf vectors;
};

Eigenpairs leading_eigenpairs(const Eigen::MatrixXf& matrix, std::size_t most) {
  Lanczos lanczos(matrix, std::min(matrix.rows(), most_steps));
  Eigen::Index wanted = 1;
  for (bool more = true; more;) {
    for (int i = 0; i < look_every && more; ++i) more = lanczos.step();
    lanczos.solve();
    const Eigen::VectorXd& values = lanczos.values();
    const auto limit = std::min<Eigen::Index>(lanczos.size(), static_cast<Eigen::Index>(most));
    wanted = 1;
    while (wanted < limit && values(wanted - 1) >= values(0) / 2) ++wanted;
    bool known = values(wanted - 1) < values(0) / 2 || wanted == static_cast<Eigen::Index>(most);
    for (Eigen::Index pair = 0; pair < wanted; ++pair) {
      known = known && lanczos.residual(pair) < precise * values(0);
    }
    if (known) break;
  }
  Eigenpairs pairs;
  for (Eigen::Index pair = 0; pair < wanted; ++pair) pairs.values.push_back(lanczos.values()(pair));
  pairs.vectors = lanczos.vectors(wanted);
  return pairs;
}

}  // namespace

void PackedProducts::add(const PackedProducts& other) {
  if (mass == 0) {
    *this = other;
    return;
  }
  mass += other.mass;
  std::transform(sum.begin(), sum.end(), other.sum.begin(), sum.begin(), std::plus<>());
  std::transform(triangle.begin(), triangle.end(), other.triangle.begin(), triangle.begin(),
                 std::plus<>());
}

struct Products::Sums {
  explicit Sums(std::span<const double> from)
      : centre(from.begin(), from.end()),
        products(Eigen::MatrixXf::Zero(size(), size())),
        sum(Eigen::VectorXd::Zero(size())),
        rows(size(), block) {}

  static constexpr Eigen::Index block = 64;
  Eigen::Index size() const { return static_cast<Eigen::Index>(centre.size()); }

  void flush() {
    if (filled == 0) return;
    products.selfadjointView<Eigen::Lower>().rankUpdate(rows.leftCols(filled));
    filled = 0;
  }
  /// Only the lower triangle is set.
  Eigen::MatrixXf covariance() {
    flush();
    Eigen::MatrixXf covariance = products / static_cast<float>(mass);
    const Eigen::VectorXf mean = (sum / mass).cast<float>();
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(mean, -1.0F);
    return covariance;
  }

  std::vector<double> centre;
  Eigen::MatrixXf products;
  Eigen::VectorXd sum;
  Eigen::MatrixXf rows;
  Eigen::Index filled = 0;
  double mass = 0;
};

Products::Products(std::span<const double> centre) : sums_(std::make_unique<Sums>(centre)) {}
Products::Products(Products&&) noexcept = default;
Products& Products::operator=(Products&&) noexcept = default;
Products::~Products() = default;

Products::Products(std::span<const double> centre, const PackedProducts& packed)
    : Products(centre) {
  sums_->mass = packed.mass;
  sums_->sum = Eigen::Map<const Eigen::VectorXd>(packed.sum.data(), sums_->size());
  auto from = packed.triangle.begin();
  for (Eigen::Index j = 0; j < sums_->size(); ++j) {
    for (Eigen::Index i = j; i < sums_->size(); ++i) sums_->products(i, j) = *from++;
  }
}

void Products::add(std::span<const double> x, double weight) {
  const double root = std::sqrt(weight);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto place = static_cast<Eigen::Index>(i);
    const double distance = x[i] - sums_->centre[i];
    sums_->sum(place) += weight * distance;
    sums_->rows(place, sums_->filled) = static_cast<float>(root * distance);
  }
  sums_->mass += weight;
  if (++sums_->filled == Sums::block) sums_->flush();
}

PackedProducts Products::packed() {
  sums_->flush();
  PackedProducts packed{sums_->mass, {sums_->sum.begin(), sums_->sum.end()}, {}};
  for (Eigen::Index j = 0; j < sums_->size(); ++j) {
    for (Eigen::Index i = j; i < sums_->size(); ++i) {
      packed.triangle.push_back(sums_->products(i, j));
    }
  }
  return packed;
}

LeadingPlane leading_plane(std::span<const double> variances) {
  std::vector<std::size_t> order(variances.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return variances[a] > variances[b]; });
  LeadingPlane plane{{}, variances[order.front()]};
  for (const std::size_t i : order) {
    plane.directions.emplace_back(variances.size()).at(i) = 1;
    if (variances[i] < plane.eigenvalue / 2) break;
  }
  return plane;
}

LeadingPlane Products::plane() {
  const Eigen::MatrixXf covariance = sums_->covariance();
  const Eigenpairs pairs = leading_eigenpairs(covariance, static_cast<std::size_t>(sums_->size()));
  LeadingPlane plane{{}, pairs.values.front()};
  for (Eigen::Index pair = 0; pair < pairs.vectors.cols(); ++pair) {
    const Eigen::VectorXd direction = pairs.vectors.col(pair).cast<double>();
    plane.directions.emplace_back(direction.begin(), direction.end());
  }
  return plane;
}

std::array<double, component_quantities> Products::squared_errors(const LeadingPlane& truth) {
  const Eigen::MatrixXf covariance = sums_->covariance();
  const Eigenpairs found = leading_eigenpairs(covariance, 1);
  Eigen::VectorXd outside = found.vectors.col(0).cast<double>().normalized();
  // What is outside the plane: precise where the angle is small.
  for (const std::vector<double>& each : truth.directions) {
    const Eigen::Map<const Eigen::VectorXd> direction(each.data(), outside.size());
    outside -= outside.dot(direction) * direction;
  }
  const double angle = std::asin(std::min(1.0, outside.norm()));
  const double error = found.values.front() - truth.eigenvalue;
  return {angle * angle, error * error};
}

}  // namespace rehmc::experiments
