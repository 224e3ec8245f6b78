// Fits a matrix that is diagonal except along a few directions.
#include "rehmc/core/low_rank_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "rehmc/core/products.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

namespace {

using Eigen::Index;

constexpr Index most_directions = 128;
/// States per direction, and coordinates per direction.
constexpr Index numbers_per_direction = 8;
/// Scales and directions are fitted alternately, until scales change by no more than this.
constexpr int most_rounds = 4;
constexpr double settled_change = 0.01;
/// Of the first round; later ones begin with a good basis.
constexpr int first_passes = 2;
/// A direction that is stretched or shrunk by less adds more noise than it explains.
constexpr double least_stretch = 1.2;

Eigen::MatrixXd product(const MatrixView& a, const MatrixView& b) {
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Zero(static_cast<Index>(a.rows), static_cast<Index>(b.columns));
  add_product(1, a, b, into(result));
  return result;
}

/// An orthonormal basis of the columns.
Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

/// A random start: Halko, Martinsson & Tropp (2011), section 4.
Eigen::MatrixXd random_basis(Index dimension, Index count) {
  Stream stream({}, Purpose::estimate);
  Eigen::MatrixXd columns(dimension, count);
  stream.fill_normal({columns.data(), static_cast<std::size_t>(columns.size())});
  return orthonormal(columns);
}

/// Moves a basis closer to the leading right singular vectors of the rows: Halko, Martinsson &
/// Tropp (2011), algorithm 4.4.
Eigen::MatrixXd refined(Eigen::MatrixXd basis, const Eigen::MatrixXd& rows, int passes) {
  for (int pass = 0; pass < passes; ++pass) {
    basis = orthonormal(product(by_columns(rows).transposed(),
                                by_columns(product(by_columns(rows), by_columns(basis)))));
  }
  return basis;
}

/// For every column, minus the slope of x on g, or the variance if that is not positive.
Eigen::VectorXd squared_scales(const Eigen::Ref<const Eigen::MatrixXd>& x,
                               const Eigen::Ref<const Eigen::MatrixXd>& g) {
  Eigen::VectorXd result(x.cols());
  for (Index i = 0; i < x.cols(); ++i) {
    const double slope = -x.col(i).dot(g.col(i)) / g.col(i).squaredNorm();
    result[i] = slope > 0 ? slope : x.col(i).squaredNorm();
  }
  return result;
}

std::vector<double> numbers(const Eigen::MatrixXd& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace

LowRankFit LowRankFit::of(std::size_t dimension, std::span<const double> positions_by_coordinate,
                          std::span<const double> gradients_by_coordinate) {
  const auto d = static_cast<Index>(dimension);
  const Index rows = static_cast<Index>(positions_by_coordinate.size()) / d;
  const Eigen::Map<const Eigen::MatrixXd> positions(positions_by_coordinate.data(), rows, d);
  const Eigen::Map<const Eigen::MatrixXd> gradients(gradients_by_coordinate.data(), rows, d);
  LowRankFit fit;
  fit.scale = numbers(squared_scales(positions, gradients).cwiseSqrt());
  const Index count =
      std::min(most_directions, std::min(d, positions.rows()) / numbers_per_direction);
  if (count == 0) return fit;

  // The first units give positions and gradients the same variance: then stretched and shrunk
  // directions stand out equally.
  Eigen::VectorXd scale =
      (positions.colwise().norm().array() / gradients.colwise().norm().array()).sqrt();
  Eigen::MatrixXd basis = random_basis(d, count);
  Eigen::MatrixXd x(positions.rows(), d);
  Eigen::MatrixXd g(positions.rows(), d);
  Eigen::MatrixXd x_inside;
  Eigen::MatrixXd g_inside;
  bool settled = false;
  for (int round = 1;; ++round) {
    x.noalias() = positions * scale.cwiseInverse().asDiagonal();
    g.noalias() = gradients * scale.asDiagonal();
    // A Gaussian has x + g = U (I - Lambda) U' g at every state: these directions are free of
    // noise.
    basis = refined(std::move(basis), x + g, round == 1 ? first_passes : 1);
    x_inside = product(by_columns(x), by_columns(basis));
    g_inside = product(by_columns(g), by_columns(basis));
    if (round == most_rounds || settled) break;
    add_product(-1, by_columns(x_inside), by_columns(basis).transposed(), into(x));
    add_product(-1, by_columns(g_inside), by_columns(basis).transposed(), into(g));
    const Eigen::ArrayXd change = squared_scales(x, g).array().sqrt();
    scale.array() *= change;
    settled = (change - 1).abs().maxCoeff() <= settled_change;
  }
  if (!scale.allFinite()) return fit;

  const Eigen::MatrixXd slope =
      (g_inside.transpose() * g_inside).ldlt().solve(g_inside.transpose() * x_inside);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(-0.5 * (slope + slope.transpose()));
  std::vector<Index> worth;
  for (Index k = 0; k < count; ++k) {
    const double stretch = solver.eigenvalues()[k];
    if (stretch > least_stretch || (stretch > 0 && stretch < 1 / least_stretch)) worth.push_back(k);
  }
  if (worth.empty()) return fit;
  fit.scale = numbers(scale);
  fit.directions = numbers(basis * solver.eigenvectors()(Eigen::all, worth));
  fit.stretch = numbers(solver.eigenvalues()(worth));
  return fit;
}

}  // namespace rehmc
