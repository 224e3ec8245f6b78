// The geometric mean of two matrices, by one Cholesky and one spectral decomposition.
#include "dense_geometric.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "dense_estimate.hpp"

namespace rehmc {

std::shared_ptr<const Metric> dense_geometric(const CentredStates& states) {
  const auto moments = UnitMoments::of(states);
  if (!moments) return nullptr;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(moments->gg);
  if (cholesky.info() != Eigen::Success) return nullptr;
  // With gg = L L', S = L'^-1 (L' xx L)^1/2 L^-1.
  const Eigen::MatrixXd product =
      cholesky.matrixU() * (moments->xx * cholesky.matrixL().toDenseMatrix());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(0.5 *
                                                              (product + product.transpose()));
  if (solver.info() != Eigen::Success || !(solver.eigenvalues().minCoeff() > 0)) return nullptr;
  Eigen::MatrixXd root =
      solver.eigenvectors() * solver.eigenvalues().cwiseSqrt().cwiseSqrt().asDiagonal();
  cholesky.matrixU().solveInPlace(root);
  return moments->metric(root * root.transpose());
}

}  // namespace rehmc
