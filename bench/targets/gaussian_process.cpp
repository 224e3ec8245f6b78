// The posterior of the Gaussian process; its truth by quadrature over all three coordinates.
#include "gaussian_process.hpp"

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <vector>

#include "grid.hpp"

namespace rehmc::bench {

namespace {

constexpr int points = 10;
constexpr std::array<double, points> places{0.08, 0.13, 0.22, 0.38, 0.43,
                                            0.53, 0.66, 0.74, 0.87, 0.93};
constexpr std::array<double, points> heights{0.89,  0.7,   -0.38, -1.62, -2.01,
                                             -2.98, -2.58, -2.33, -0.89, -0.99};
constexpr std::array<double, 3> prior_means{-1, 0, -1};
constexpr double prior_sd = 1;

using PointMatrix = Eigen::Matrix<double, points, points>;
using PointVector = Eigen::Matrix<double, points, 1>;

PointMatrix squared_distances() {
  PointMatrix squares;
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < points; ++j) {
      const double distance =
          places[static_cast<std::size_t>(i)] - places[static_cast<std::size_t>(j)];
      squares(i, j) = distance * distance;
    }
  }
  return squares;
}

const PointMatrix& distances() {
  static const PointMatrix matrix = squared_distances();
  return matrix;
}

double log_prior(std::span<const double> x) {
  double sum = 0;
  for (std::size_t k = 0; k < prior_means.size(); ++k) {
    const double z = (x[k] - prior_means[k]) / prior_sd;
    sum -= 0.5 * z * z;
  }
  return sum;
}

}  // namespace

double GaussianProcess::operator()(std::span<const double> x, std::span<double> gradient) const {
  const PointMatrix scaled = distances() * std::exp(-2 * x[0]);
  const PointMatrix kernel = std::exp(2 * x[1]) * (-0.5 * scaled.array()).exp().matrix();
  const double noise = std::exp(2 * x[2]);
  PointMatrix covariance = kernel;
  covariance.diagonal().array() += noise;
  const Eigen::LLT<PointMatrix> factor(covariance);
  const PointVector y = Eigen::Map<const PointVector>(heights.data());
  const PointVector solved = factor.solve(y);
  // d/dp of the log likelihood is half the trace of this matrix times d covariance / dp.
  const PointMatrix slope = solved * solved.transpose() - factor.solve(PointMatrix::Identity());
  gradient[0] = 0.5 * (slope.array() * kernel.array() * scaled.array()).sum();
  gradient[1] = (slope.array() * kernel.array()).sum();
  gradient[2] = noise * slope.trace();
  for (std::size_t k = 0; k < prior_means.size(); ++k) {
    gradient[k] -= (x[k] - prior_means[k]) / (prior_sd * prior_sd);
  }
  const PointMatrix lower = factor.matrixL();
  return -lower.diagonal().array().log().sum() - 0.5 * y.dot(solved) + log_prior(x);
}

ExactTarget gaussian_process(double fineness) {
  // With the eigenvalues of K, known for each length, every other point costs little.
  double length = std::nan("");
  PointVector values;
  PointVector squares;
  const Grid::Function log_density = [&](std::span<const double> x) {
    if (x[0] != length) {
      length = x[0];
      const PointMatrix kernel =
          (-0.5 * std::exp(-2 * length) * distances().array()).exp().matrix();
      const Eigen::SelfAdjointEigenSolver<PointMatrix> solver(kernel);
      values = solver.eigenvalues().cwiseMax(0);
      squares = (solver.eigenvectors().transpose() * Eigen::Map<const PointVector>(heights.data()))
                    .cwiseAbs2();
    }
    const PointVector variances =
        (std::exp(2 * x[1]) * values.array() + std::exp(2 * x[2])).matrix();
    return -0.5 * (std::log(variances.prod()) + (squares.array() / variances.array()).sum()) +
           log_prior(x);
  };
  const std::vector<Axis> axes{{-8, 6, points_of(170, fineness)},
                               {-7, 7, points_of(120, fineness)},
                               {-9, 4, points_of(120, fineness)}};
  const Grid grid(Grid::fitted(axes, log_density), log_density);
  ExactTarget target{GaussianProcess(), {}};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    target.truth.push_back(grid.marginal(k).values());
  }
  return target;
}

}  // namespace rehmc::bench
