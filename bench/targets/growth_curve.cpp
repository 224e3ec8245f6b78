// The posterior of the growth curve; given u and log sigma, a and b are normal.
#include "growth_curve.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "grid.hpp"

namespace rehmc::bench {

namespace {

constexpr std::size_t measured = 27;
constexpr std::array<double, measured> ages{1,   1,  1,   1.5, 1.5, 1.5, 2,    2,  2,
                                            2,   3,  3.5, 5,   5.5, 5.5, 5.5,  7,  8,
                                            8.5, 10, 12,  14,  14,  15,  18.5, 24, 28};
constexpr std::array<double, measured> lengths{
    1.7,  1.78, 1.76, 1.76, 1.9,  1.75, 1.77, 1.83, 1.8,  1.87, 2.16, 2.06, 2.15, 2.34,
    2.23, 2.42, 2.38, 2.2,  2.33, 2.25, 2.43, 2.43, 2.29, 2.52, 2.61, 2.79, 2.66};
constexpr double least_lambda = 0.5;
constexpr double range_of_lambda = 0.48;
/// Means and sds of the priors.
constexpr std::array<double, 2> prior_centres{2.5, 1};  // a, b
constexpr double prior_scale = 2;
constexpr double log_sigma_mean = -2;
constexpr double log_sigma_sd = 1;

/// lambda, its derivative by u, and the log prior of u with its derivative.
struct Lambda {
  double value;
  double slope;
  double log_prior;
  double prior_slope;
};

Lambda lambda_of(double u) {
  const double share = 1 / (1 + std::exp(-u));
  const double rest = 1 / (1 + std::exp(u));
  // Beta(2, 2), and the Jacobian share * rest.
  return {least_lambda + range_of_lambda * share, range_of_lambda * share * rest,
          2 * std::log(share) + 2 * std::log(rest), 2 * (rest - share)};
}

double log_sigma_prior(double log_sigma) {
  const double z = (log_sigma - log_sigma_mean) / log_sigma_sd;
  return -0.5 * z * z;
}

/// Given u and log sigma: the log density of these two, and the means and sds of a and b.
struct Conditional {
  double log_density;
  std::array<double, 2> means;
  std::array<double, 2> sds;
};

/// a - b lambda^x is a regression on (1, -lambda^x) with a normal prior.
Conditional conditional(double u, double log_sigma) {
  const Lambda lambda = lambda_of(u);
  const double precision = std::exp(-2 * log_sigma);
  const double prior = 1 / (prior_scale * prior_scale);
  double aa = prior;
  double ab = 0;
  double bb = prior;
  double ay = 0;
  double by = 0;
  double yy = 0;
  for (std::size_t i = 0; i < measured; ++i) {
    const double z = -std::pow(lambda.value, ages[i]);
    // About the prior means.
    const double y = lengths[i] - prior_centres[0] - prior_centres[1] * z;
    aa += precision;
    ab += precision * z;
    bb += precision * z * z;
    ay += precision * y;
    by += precision * y * z;
    yy += precision * y * y;
  }
  const double determinant = aa * bb - ab * ab;
  const double a = (bb * ay - ab * by) / determinant;
  const double b = (aa * by - ab * ay) / determinant;
  const double log_density = lambda.log_prior + log_sigma_prior(log_sigma) -
                             static_cast<double>(measured) * log_sigma -
                             0.5 * std::log(determinant) - 0.5 * (yy - a * ay - b * by);
  return {log_density,
          {prior_centres[0] + a, prior_centres[1] + b},
          {std::sqrt(bb / determinant), std::sqrt(aa / determinant)}};
}

}  // namespace

double GrowthCurve::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double a = x[0];
  const double b = x[1];
  const Lambda lambda = lambda_of(x[2]);
  const double log_sigma = x[3];
  const double precision = std::exp(-2 * log_sigma);
  double sum = 0;
  double sum_a = 0;
  double sum_b = 0;
  double sum_lambda = 0;
  for (std::size_t i = 0; i < measured; ++i) {
    const double power = std::pow(lambda.value, ages[i]);
    const double residual = lengths[i] - a + b * power;
    sum += residual * residual;
    sum_a += residual;
    sum_b -= residual * power;
    sum_lambda -= residual * b * ages[i] * power / lambda.value;
  }
  const double prior = 1 / (prior_scale * prior_scale);
  const double from_a = a - prior_centres[0];
  const double from_b = b - prior_centres[1];
  gradient[0] = precision * sum_a - prior * from_a;
  gradient[1] = precision * sum_b - prior * from_b;
  gradient[2] = precision * sum_lambda * lambda.slope + lambda.prior_slope;
  gradient[3] = precision * sum - static_cast<double>(measured) -
                (log_sigma - log_sigma_mean) / (log_sigma_sd * log_sigma_sd);
  return -0.5 * precision * sum - static_cast<double>(measured) * log_sigma + lambda.log_prior +
         log_sigma_prior(log_sigma) - 0.5 * prior * (from_a * from_a + from_b * from_b);
}

ExactTarget growth_curve(double fineness) {
  const Grid::Function log_density = [](std::span<const double> x) {
    return conditional(x[0], x[1]).log_density;
  };
  const std::vector<Axis> outer{{-14, 30, points_of(240, fineness)},
                                {-4, 0, points_of(60, fineness)}};
  const Grid grid(Grid::fitted(outer, log_density), log_density);
  std::array<std::vector<NormalPart>, 2> parts;
  for (std::size_t k = 0; k < grid.size(); ++k) {
    const std::vector<double> x = grid.point(k);
    const Conditional given = conditional(x[0], x[1]);
    for (std::size_t i = 0; i < 2; ++i) {
      parts[i].push_back({grid.weight(k), given.means[i], given.sds[i]});
    }
  }
  const std::size_t table = points_of(points_of_mixture, fineness);
  return {
      GrowthCurve(),
      {mixture_of_normals(parts[0], table).values(), mixture_of_normals(parts[1], table).values(),
       grid.marginal(0).values(), grid.marginal(1).values()}};
}

}  // namespace rehmc::bench
