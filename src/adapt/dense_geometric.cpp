// The geometric mean of two matrices, by one Cholesky and one spectral decomposition, twice.
#include "dense_geometric.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <optional>

#include "dense_estimate.hpp"

namespace rehmc {

namespace {

using Eigen::MatrixXd;

/// Beside its square, what rounding leaves of the product of two moments of 500 coordinates must be
/// small.
constexpr double ridge_again = 1e-5;

/// A root R of the mean S = R R' of xx and gg^-1, and its inverse.
struct Root {
  MatrixXd root;
  MatrixXd inverse;
};

std::optional<Root> root_of_mean(const MatrixXd& xx, const MatrixXd& gg) {
  const Eigen::LLT<MatrixXd> cholesky(gg);
  if (cholesky.info() != Eigen::Success) return std::nullopt;
  // With gg = L L', S = L'^-1 (L' xx L)^1/2 L^-1.
  const MatrixXd product = cholesky.matrixU() * (xx * cholesky.matrixL().toDenseMatrix());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(0.5 * (product + product.transpose()));
  if (solver.info() != Eigen::Success || !(solver.eigenvalues().minCoeff() > 0)) {
    return std::nullopt;
  }
  const Eigen::VectorXd size = solver.eigenvalues().cwiseSqrt().cwiseSqrt();
  Root result{
      solver.eigenvectors() * size.asDiagonal(),
      size.cwiseInverse().asDiagonal() * (solver.eigenvectors().transpose() * cholesky.matrixU())};
  cholesky.matrixU().solveInPlace(result.root);
  return result;
}

}  // namespace

std::shared_ptr<const Metric> dense_geometric(const CentredStates& states) {
  const auto moments = UnitMoments::of(states);
  if (!moments) return nullptr;
  const auto first = root_of_mean(moments->xx, moments->gg);
  if (!first) return nullptr;
  const MatrixXd inverse_mass = first->root * first->root.transpose();
  // Where chains have hardly moved, the ridge is as large as what they tell. In coordinates that
  // the first mean makes alike, it is not.
  const CentredStates alike{
      states.x * moments->unit.cwiseInverse().asDiagonal() * first->inverse.transpose(),
      states.g * moments->unit.asDiagonal() * first->root, states.draws};
  const auto again = UnitMoments::of(alike, ridge_again);
  const auto second = again ? root_of_mean(again->xx, again->gg) : std::nullopt;
  if (!second) return moments->metric(inverse_mass);
  const MatrixXd root = first->root * again->unit.asDiagonal() * second->root;
  return moments->metric(root * root.transpose());
}

}  // namespace rehmc
