// The posterior of groups of counts; its truth by quadrature over mu, log tau and each theta.
#include "binomial_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "grid.hpp"

namespace rehmc::bench {

namespace {

constexpr std::size_t groups = BinomialGroups::groups;
constexpr std::array<double, groups> trials{137, 193, 385, 111, 227, 353,
                                            146, 73,  270, 268, 98,  112};
constexpr std::array<double, groups> successes{21, 20, 32, 8, 31, 47, 14, 11, 40, 32, 17, 7};
constexpr double mu_mean = -2;
constexpr double mu_sd = 1.5;
constexpr double log_tau_mean = -1.2039728043259361;  // log 0.3
constexpr double log_tau_sd = 0.7;

/// log(1 + exp(theta))
double log_sum(double theta) {
  return std::max(theta, 0.0) + std::log1p(std::exp(-std::abs(theta)));
}

double log_likelihood(std::size_t j, double theta) {
  return successes[j] * theta - trials[j] * log_sum(theta);
}

double log_prior(double mu, double log_tau) {
  const double a = (mu - mu_mean) / mu_sd;
  const double b = (log_tau - log_tau_mean) / log_tau_sd;
  return -0.5 * (a * a + b * b);
}

struct Peak {
  double place;
  double width;
};

/// The mode of theta_j given mu and tau, and the width of its density there.
Peak peak_of(std::size_t j, double mu, double tau) {
  double theta = mu;
  double curvature = 1;
  for (int step = 0; step < 30; ++step) {
    const double p = 1 / (1 + std::exp(-theta));
    curvature = trials[j] * p * (1 - p) + 1 / (tau * tau);
    const double slope = successes[j] - trials[j] * p - (theta - mu) / (tau * tau);
    theta += std::clamp(slope / curvature, -1.0, 1.0);
    if (std::abs(slope) < 1e-6 * std::sqrt(curvature)) break;
  }
  return {theta, 1 / std::sqrt(curvature)};
}

/// log of the integral of the likelihood of group j over theta_j ~ N(mu, tau).
double log_evidence(std::size_t j, double mu, double tau, double fineness) {
  const Peak peak = peak_of(j, mu, tau);
  constexpr double reach = 10;
  const double step = 0.4 / fineness;
  const auto logarithm = [&](double theta) {
    const double z = (theta - mu) / tau;
    return log_likelihood(j, theta) - 0.5 * z * z;
  };
  const double top = logarithm(peak.place);
  double sum = 0;
  for (double z = -reach; z <= reach; z += step) {
    sum += std::exp(logarithm(peak.place + peak.width * z) - top);
  }
  return top + std::log(sum * step * peak.width / tau);
}

}  // namespace

double BinomialGroups::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double mu = x[0];
  const double log_tau = x[1];
  const double precision = std::exp(-2 * log_tau);
  double value = log_prior(mu, log_tau) - static_cast<double>(groups) * log_tau;
  gradient[0] = -(mu - mu_mean) / (mu_sd * mu_sd);
  gradient[1] = -(log_tau - log_tau_mean) / (log_tau_sd * log_tau_sd) - static_cast<double>(groups);
  for (std::size_t j = 0; j < groups; ++j) {
    const double theta = x[2 + j];
    const double deviation = theta - mu;
    value += log_likelihood(j, theta) - 0.5 * precision * deviation * deviation;
    gradient[0] += precision * deviation;
    gradient[1] += precision * deviation * deviation;
    gradient[2 + j] = successes[j] - trials[j] / (1 + std::exp(-theta)) - precision * deviation;
  }
  return value;
}

ExactTarget binomial_groups(double fineness) {
  // Narrower than the steps of mu, a normal would not be integrated well; so small a tau has
  // probability 1e-7.
  const std::vector<Axis> outer{{-4.2, -0.2, points_of(240, fineness)},
                                {-6.8, 3.8, points_of(90, fineness)}};
  const Grid::Function log_density = [&](std::span<const double> x) {
    double sum = log_prior(x[0], x[1]);
    for (std::size_t j = 0; j < groups; ++j) {
      sum += log_evidence(j, x[0], std::exp(x[1]), fineness);
    }
    return sum;
  };
  const Grid grid(Grid::fitted(outer, log_density), log_density);
  ExactTarget target{BinomialGroups(), {grid.marginal(0).values(), grid.marginal(1).values()}};

  const Axis inner{-6, 1, points_of(700, fineness)};
  std::vector<std::vector<double>> sums(groups, std::vector<double>(inner.points));
  for (std::size_t k = 0; k < grid.size(); ++k) {
    if (grid.weight(k) < 1e-17) continue;
    const std::vector<double> x = grid.point(k);
    const double tau = std::exp(x[1]);
    std::array<double, groups> evidence{};
    for (std::size_t j = 0; j < groups; ++j) evidence[j] = log_evidence(j, x[0], tau, fineness);
    for (std::size_t i = 0; i < inner.points; ++i) {
      const double z = (inner.at(i) - x[0]) / tau;
      const double normal = grid.weight(k) / tau * std::exp(-0.5 * z * z);
      if (normal < 1e-250) continue;
      for (std::size_t j = 0; j < groups; ++j) sums[j][i] += normal * std::exp(-evidence[j]);
    }
  }
  for (std::size_t j = 0; j < groups; ++j) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < inner.points; ++i) {
      logs.push_back(std::log(std::max(sums[j][i], 1e-300)) + log_likelihood(j, inner.at(i)));
    }
    target.truth.push_back(Marginal(inner.low, inner.step(), logs).values());
  }
  return target;
}

}  // namespace rehmc::bench
