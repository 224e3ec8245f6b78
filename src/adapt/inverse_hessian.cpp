// The two loops of L-BFGS, and the same matrix with its directions made explicit.
#include "inverse_hessian.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <vector>

namespace rehmc {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Of a step and a change of the gradient; below, rounding decides.
constexpr double least_cosine = 1e-12;
/// Numbers in all pairs together.
constexpr Index most_numbers = 2'000'000;

std::vector<double> numbers(const MatrixXd& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

/// Orthonormal columns whose span contains the columns.
MatrixXd orthonormal(const MatrixXd& columns) {
  if (columns.cols() >= columns.rows()) return MatrixXd::Identity(columns.rows(), columns.rows());
  const Eigen::HouseholderQR<MatrixXd> qr(columns);
  return qr.householderQ() * MatrixXd::Identity(columns.rows(), columns.cols());
}

}  // namespace

InverseHessian::InverseHessian(const VectorXd& gradient) { reset(gradient); }

void InverseHessian::reset(double variance, Eigen::Index dimension) {
  pairs_.clear();
  diagonal_ = VectorXd::Constant(dimension, variance);
}

void InverseHessian::reset(const VectorXd& gradient) {
  // A first step of length 1 at most.
  reset(1 / std::max(1.0, gradient.norm()), gradient.size());
}

std::size_t InverseHessian::most_pairs() const {
  return static_cast<std::size_t>(
      std::clamp<Index>(most_numbers / diagonal_.size(), 10, diagonal_.size() + 10));
}

void InverseHessian::learn(const VectorXd& step, const VectorXd& change) {
  const double curvature = step.dot(change);
  if (!(curvature > least_cosine * step.norm() * change.norm())) return;
  Pair pair{step, change, curvature};
  rescale(pair);
  pairs_.push_back(std::make_shared<const Pair>(std::move(pair)));
  if (pairs_.size() > most_pairs()) pairs_.pop_front();
}

/// The diagonal of Gilbert & Lemarechal (1989), as in Zhang et al. (2022), algorithm 3.
void InverseHessian::rescale(const Pair& pair) {
  if (pairs_.empty()) {
    diagonal_.setConstant(pair.curvature / pair.change.squaredNorm());
    return;
  }
  const double change_size = pair.change.cwiseAbs2().dot(diagonal_);
  const double step_size = pair.step.cwiseAbs2().dot(diagonal_.cwiseInverse());
  const VectorXd inverse =
      (change_size * diagonal_.cwiseInverse() + pair.change.cwiseAbs2() -
       (change_size / step_size) * pair.step.cwiseQuotient(diagonal_).cwiseAbs2()) /
      pair.curvature;
  if (inverse.allFinite() && inverse.minCoeff() > 0) diagonal_ = inverse.cwiseInverse();
}

VectorXd InverseHessian::times(const VectorXd& vector) const {
  VectorXd result = vector;
  std::vector<double> shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = pairs_[i]->step.dot(result) / pairs_[i]->curvature;
    result -= shares[i] * pairs_[i]->change;
  }
  result.array() *= diagonal_.array();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double share = pairs_[i]->change.dot(result) / pairs_[i]->curvature;
    result += (shares[i] - share) * pairs_[i]->step;
  }
  return result;
}

DiagonalPlusLowRank InverseHessian::as_operator() const {
  const Index d = diagonal_.size();
  const auto count = static_cast<Index>(pairs_.size());
  const VectorXd scale = diagonal_.cwiseSqrt();
  if (pairs_.empty()) return {numbers(scale), {}, {}};
  // In units of the scale, the matrix is the identity on what no pair has touched.
  MatrixXd touched(d, 2 * count);
  for (Index i = 0; i < count; ++i) {
    const Pair& pair = *pairs_[static_cast<std::size_t>(i)];
    touched.col(i) = pair.step.cwiseQuotient(scale);
    touched.col(count + i) = pair.change.cwiseProduct(scale);
  }
  const MatrixXd basis = orthonormal(touched);
  // The two loops, for all vectors of the basis at once and in its coordinates.
  const MatrixXd inside = basis.transpose() * touched;
  const auto step = [&](Index i) { return inside.col(i); };
  const auto change = [&](Index i) { return inside.col(count + i); };
  MatrixXd image = MatrixXd::Identity(basis.cols(), basis.cols());
  MatrixXd shares(count, basis.cols());
  for (Index i = count; i-- > 0;) {
    shares.row(i) = step(i).transpose() * image / pairs_[static_cast<std::size_t>(i)]->curvature;
    image.noalias() -= change(i) * shares.row(i);
  }
  for (Index i = 0; i < count; ++i) {
    const Eigen::RowVectorXd share =
        change(i).transpose() * image / pairs_[static_cast<std::size_t>(i)]->curvature;
    image.noalias() += step(i) * (shares.row(i) - share);
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(0.5 * (image + image.transpose()));
  return {numbers(scale), numbers(basis * solver.eigenvectors()), numbers(solver.eigenvalues())};
}

}  // namespace rehmc
