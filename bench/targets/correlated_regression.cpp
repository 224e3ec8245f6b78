// The regression: each coefficient is Student-t, and the sum of squares over sigma^2 chi-squared.
#include "correlated_regression.hpp"

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <vector>

#include "rehmc/estimate/distributions.hpp"

namespace rehmc::bench {

namespace {

constexpr int n = CorrelatedRegression::observations;
constexpr int p = CorrelatedRegression::coefficients;
constexpr int degrees = n - p;
/// Each row: eight predictors, then y.
constexpr std::array<double, n * p> table{
    2.17,  0.73,  0.74,  0.33,  -0.39, -0.69, -0.85, -0.67, -0.49, 0.39,  0.99,  0.84,  1.36,
    1.25,  0.92,  0.46,  -0.4,  -3.2,  -1.62, -1.23, -1.02, -0.52, -0.17, -1.05, -1.28, -1.73,
    5.38,  0.93,  0.53,  0.41,  -0.39, -1.22, -1.31, -1.04, -0.45, 0.17,  -1.57, -0.91, -1.3,
    -1.33, -1.21, -1.2,  -0.57, 0.17,  5.86,  0.27,  -0.25, 0.07,  0.27,  0.74,  0.66,  -0.73,
    -1.09, 0.42,  -0.47, 0.27,  0.04,  0.62,  0.59,  -0.47, -0.35, 0.09,  1.09,  0.33,  -0.86,
    -0.35, -0.71, -2.03, -1.87, -2.75, -2.87, 1.56,  1.35,  2.63,  2.54,  2.03,  2.71,  2.09,
    0.72,  -1.28, -8.69, 0.83,  -1.06, -2.81, -2.48, -1.74, -1.87, -0.63, -0.55, 5.74,  0.14,
    0.36,  -0.21, -0.05, 1.57,  0.39,  0.34,  0.57,  1.64,  -0.6,  -0.5,  -1.61, -1.48, -1.05,
    0.01,  0.64,  -0.01, 3.09,  -1.16, 0.45,  0.9,   -0.76, -0.82, -1.25, -1.35, -2.2,  0.81,
    -0.47, -0.74, -0.72, 0.2,   0.26,  -0.72, -1.77, -1.65, 2.64,  1.1,   1.4,   0.53,  1.16,
    1.09,  0.3,   0.49,  0.25,  -0.03, -1.16, -1.15, -0.72, 0.41,  -0.48, -0.19, -0.15, -0.17,
    1.44,  -1.26, -0.01, 0.9,   1.74,  1.53,  2.11,  1.84,  1.98,  0.2,   -0.37, -0.12, -0.34,
    -1.01, -1.04, -1.55, -1.91, -1.63, 3.42,  -0.63, 1.02,  1.96,  2.13,  2.04,  0.79,  0.73,
    -0.54, -2.49, -0.66, -0.82, -0.86, 0.0,   -0.58, 1.31,  0.53,  0.97,  1.84,  -1.61, -0.49,
    -1.24, -0.74, -0.54, 0.2,   0.56,  0.66,  1.2,   -0.17, 1.27,  0.55,  0.38,  -0.09, 0.02,
    -0.69, -0.79, -2.0,  0.49,  -0.09, 0.26,  -0.25, 0.83,  0.47,  1.58,  1.45,  1.56,  -0.15,
    0.56,  1.22,  1.94,  2.34,  2.27,  0.73,  1.17,  -3.63, -0.11, 0.2,   1.04,  0.2,   1.08,
    2.47,  2.11,  1.24,  -0.59, 1.36,  1.07,  1.49,  1.93,  0.25,  0.4,   -0.83, -1.1,  -2.52,
    0.59,  -0.46, -0.86, -0.94, -0.45, -0.08, 0.25,  -0.21, 0.8,   -0.78, -0.27, -0.83, -1.19,
    -0.35, -0.83, -1.25, -0.09, 2.47,  -0.07, -1.68, -1.74, 0.16,  2.13,  1.25,  1.36,  1.46,
    2.85,  0.28,  -1.13, -0.1,  0.11,  -0.12, -1.27, -1.37, -1.07, 1.56,  -0.29, -0.07, -0.35,
    0.45,  0.73,  -0.34, -0.7,  -0.21, 2.38,  -0.59, 0.56,  -0.02, 0.13,  0.5,   -0.49, 0.52,
    0.19,  1.59,  -0.76, -1.06, -1.98, -2.4,  -0.63, -0.57, -0.63, -0.33, 5.09,  0.54,  -0.23,
    -0.34, -0.07, 0.64,  0.6,   1.58,  0.92,  0.1,   -0.38, -1.29, -0.97, -0.25, -0.38, -0.42,
    -1.03, -1.17, 2.17,  -0.49, -0.44, 0.43,  0.63,  1.07,  1.56,  0.73,  1.43,  -0.57, 0.0,
    -0.97, -1.15, -0.9,  -1.76, 0.39,  0.2,   0.72,  3.25,  -1.26, -0.84, -0.44, -0.88, -0.47,
    -0.37, -0.02, -0.91, 3.0,   0.47,  0.09,  -0.58, -2.02, -1.58, -1.41, 0.67,  -0.43, 1.27,
    1.44,  1.86,  1.56,  1.24,  1.19,  -0.26, 0.79,  0.28,  -1.4,  -0.79, -0.6,  -2.42, -2.68,
    -2.76, -3.09, -1.79, -0.15, 6.39,  -0.04, -0.3,  -0.02, -0.42, -0.24, 0.08,  -0.15, -0.44,
    1.75,  0.01,  0.01,  0.44,  -0.81, -1.41, -1.38, -0.66, -1.44, -0.16, 1.14,  1.78,  0.67,
    1.22,  -0.69, -0.6,  -1.62, -0.42, 0.02,  0.77,  0.85,  0.13,  -0.77, -0.3,  -0.63, -0.02,
    -1.21, 1.44,  0.34,  0.55,  -1.3,  -1.89, -1.89, -1.82, -2.57, -1.86, 5.07,
};

using CoefficientMatrix = Eigen::Matrix<double, p, p>;
using Coefficients = Eigen::Matrix<double, p, 1>;

/// A Student-t coordinate.
ExactValues student(double centre, double scale) {
  ExactValues values;
  values.mean = centre;
  values.sd = scale * std::sqrt(degrees / (degrees - 2.0));
  for (std::size_t q = 0; q < values.quantiles.size(); ++q) {
    const double probability = standard_probabilities[q];
    const double sides = 2 * std::min(probability, 1 - probability);
    const double score = sides < 1 ? two_sided_student_quantile(sides, degrees) : 0;
    values.quantiles[q] = centre + scale * std::copysign(score, probability - 0.5);
  }
  return values;
}

/// See ExactValues::rare_share.
double rare_share_of_student() {
  std::vector<double> logs;
  constexpr double reach = 60;
  constexpr std::size_t points = 6001;
  const double step = 2 * reach / static_cast<double>(points - 1);
  for (std::size_t i = 0; i < points; ++i) {
    const double t = -reach + step * static_cast<double>(i);
    logs.push_back(-0.5 * (degrees + 1) * std::log1p(t * t / degrees));
  }
  return Marginal(-reach, step, logs).values().rare_share;
}

}  // namespace

struct CorrelatedRegression::Sums {
  CoefficientMatrix squares;
  Coefficients estimate;
  double residual_squares = 0;
};

CorrelatedRegression::CorrelatedRegression() {
  const Eigen::Map<const Eigen::Matrix<double, n, p, Eigen::RowMajor>> rows(table.data());
  Eigen::Matrix<double, n, p> design;
  design << Eigen::Matrix<double, n, 1>::Ones(), rows.leftCols<p - 1>();
  const Eigen::Matrix<double, n, 1> y = rows.col(p - 1);
  Sums sums;
  sums.squares = design.transpose() * design;
  sums.estimate = sums.squares.llt().solve(design.transpose() * y);
  sums.residual_squares = (y - design * sums.estimate).squaredNorm();
  sums_ = std::make_shared<const Sums>(sums);
}

double CorrelatedRegression::operator()(std::span<const double> x,
                                        std::span<double> gradient) const {
  const double log_sigma = x[p];
  const double precision = std::exp(-2 * log_sigma);
  const Coefficients deviation = Eigen::Map<const Coefficients>(x.data()) - sums_->estimate;
  const Coefficients pull = sums_->squares * deviation;
  const double squares = sums_->residual_squares + deviation.dot(pull);
  Eigen::Map<Coefficients>(gradient.data()) = -precision * pull;
  gradient[p] = precision * squares - n;
  return -0.5 * precision * squares - n * log_sigma;
}

ExactTarget correlated_regression(double fineness) {
  const CorrelatedRegression model;
  const CorrelatedRegression::Sums& sums = model.sums();
  const CoefficientMatrix inverse = sums.squares.inverse();
  ExactTarget target{model, {}};
  const double share = rare_share_of_student();
  for (int j = 0; j < p; ++j) {
    const double scale = std::sqrt(inverse(j, j) * sums.residual_squares / degrees);
    target.truth.push_back(student(sums.estimate[j], scale));
    target.truth.back().rare_share = share;
  }
  // Without the coefficients, log sigma has density exp(-degrees u - squares exp(-2 u) / 2).
  const double mode = 0.5 * std::log(sums.residual_squares / degrees);
  constexpr double reach = 1.7;
  const std::size_t points = points_of(600, fineness);
  const double step = 2 * reach / static_cast<double>(points - 1);
  std::vector<double> logs;
  for (std::size_t i = 0; i < points; ++i) {
    const double u = mode - reach + step * static_cast<double>(i);
    logs.push_back(-degrees * u - 0.5 * sums.residual_squares * std::exp(-2 * u));
  }
  target.truth.push_back(Marginal(mode - reach, step, logs).values());
  return target;
}

}  // namespace rehmc::bench
