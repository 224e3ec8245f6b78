// Given log tau, every other coordinate of the eight schools is normal: one quadrature is enough.
#include "schools.hpp"

#include <cmath>
#include <vector>

#include "models/coordinates.hpp"
#include "models/eight_schools.hpp"

namespace rehmc::bench {

namespace {

constexpr std::size_t count = EightSchoolsData::schools;
constexpr double mu_variance = 25;
constexpr double tau_scale = 5;

/// Given log tau: its log density, and the normals that mu and theta_trans have.
struct Given {
  double log_density = 0;
  NormalPart mu;
  std::vector<NormalPart> effects;
};

Given given(double log_tau) {
  const double tau = std::exp(log_tau);
  double precision = 1 / mu_variance;
  double weighted = 0;
  double quadratic = 0;
  Given result;
  result.log_density = log_tau - std::log1p(tau * tau / (tau_scale * tau_scale));
  // With theta integrated out, y_j ~ N(mu, sigma_j^2 + tau^2).
  for (std::size_t j = 0; j < count; ++j) {
    const double error = EightSchoolsData::standard_errors[j];
    const double y = EightSchoolsData::effects[j];
    const double variance = error * error + tau * tau;
    precision += 1 / variance;
    weighted += y / variance;
    quadratic += y * y / variance;
    result.log_density -= 0.5 * std::log(variance);
  }
  result.log_density +=
      0.5 * (weighted * weighted / precision - quadratic) - 0.5 * std::log(precision);
  result.mu = {1, weighted / precision, 1 / std::sqrt(precision)};
  for (std::size_t j = 0; j < count; ++j) {
    const double error = EightSchoolsData::standard_errors[j];
    const double y = EightSchoolsData::effects[j];
    // theta_trans given mu is normal; its mean is linear in mu, which is normal.
    const double own = 1 + tau * tau / (error * error);
    const double slope = tau / (error * error) / own;
    const double sd = std::sqrt(1 / own + slope * slope / precision);
    result.effects.push_back({1, slope * (y - result.mu.mean), sd});
  }
  return result;
}

}  // namespace

ExactTarget schools(double fineness) {
  constexpr double low = -36;
  constexpr double high = 8;
  const std::size_t points = points_of(1500, fineness);
  const double step = (high - low) / static_cast<double>(points - 1);
  std::vector<double> logs;
  std::vector<std::vector<NormalPart>> parts(1 + count);
  for (std::size_t i = 0; i < points; ++i) {
    Given at = given(low + step * static_cast<double>(i));
    logs.push_back(at.log_density);
    at.effects.insert(at.effects.begin(), at.mu);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      at.effects[k].weight = std::exp(at.log_density - logs.front());
      parts[k].push_back(at.effects[k]);
    }
  }
  const std::size_t table = points_of(points_of_mixture, fineness);
  ExactTarget target{Coordinates{EightSchoolsNonCentred()}, {}};
  target.truth.push_back(mixture_of_normals(parts[0], table).values());
  target.truth.push_back(Marginal(low, step, logs).values());
  for (std::size_t j = 0; j < count; ++j) {
    target.truth.push_back(mixture_of_normals(parts[1 + j], table).values());
  }
  return target;
}

}  // namespace rehmc::bench
