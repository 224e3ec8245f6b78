// Makes metrics of every kind with their matrices.
#include "tests/dynamics/metric_cases.hpp"

#include <Eigen/QR>
#include <algorithm>

#include "rehmc/core/low_rank.hpp"

namespace rehmc::testing {

std::vector<MetricCase> every_metric(std::size_t d) {
  Stream stream({.seed = 1, .chain = static_cast<std::uint32_t>(d)}, Purpose::test);
  const Matrix identity = Matrix::Identity(index(d), index(d));
  std::vector<MetricCase> cases;
  cases.push_back({"unit", make_unit_metric(d), identity, identity});

  const Vector variances = (0.7 * normal_vector(stream, d)).array().exp();
  const Matrix diagonal = variances.asDiagonal();
  cases.push_back({"diagonal", make_diagonal_metric(numbers(variances)), diagonal, diagonal});

  Matrix root(index(d), index(d));
  for (auto column : root.colwise()) column = normal_vector(stream, d);
  const Vector scales = variances.cwiseSqrt();
  const Matrix dense = scales.asDiagonal() *
                       (root * root.transpose() / static_cast<double>(d) + 0.2 * identity) *
                       scales.asDiagonal();
  const Matrix symmetric = 0.5 * (dense + dense.transpose());
  cases.push_back(
      {"dense", make_dense_metric(d, numbers(symmetric)), symmetric, Matrix(symmetric.cwiseAbs())});

  const std::size_t rank = std::min<std::size_t>(3, d);
  Matrix directions(index(d), index(rank));
  for (auto column : directions.colwise()) column = normal_vector(stream, d);
  directions = Eigen::HouseholderQR<Matrix>(directions).householderQ() *
               Matrix::Identity(index(d), index(rank));
  const Vector stretch = Vector{{8.0, 0.2, 3.0}}.head(index(rank));
  const Vector gain = stretch.array() - 1;
  const auto around = [&](const Matrix& inner) {
    return Matrix(scales.asDiagonal() * (identity + inner) * scales.asDiagonal());
  };
  cases.push_back({"low-rank",
                   make_low_rank_metric({numbers(scales), numbers(directions), numbers(stretch)}),
                   around(directions * gain.asDiagonal() * directions.transpose()),
                   around(directions.cwiseAbs() * gain.cwiseAbs().asDiagonal() *
                          directions.cwiseAbs().transpose())});
  return cases;
}

}  // namespace rehmc::testing
