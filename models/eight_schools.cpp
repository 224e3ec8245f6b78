// Eight schools, centred and not.
#include "models/eight_schools.hpp"

#include <algorithm>

namespace rehmc {
namespace {

constexpr std::size_t schools = EightSchoolsData::schools;
constexpr double mu_sd = 5;
constexpr double tau_scale = 5;

struct Term {
  double value = 0;
  double slope = 0;
};

/// The log density of log tau for tau ~ half-Cauchy(0, 5), and its derivative:
/// -log(1 + (tau/5)^2) + log tau, whose last part is the Jacobian. Never overflows.
Term log_tau_prior(double log_tau) {
  const double log_square = 2 * (log_tau - std::log(tau_scale));
  const double small = std::exp(-std::abs(log_square));
  const double log_sum = std::max(log_square, 0.0) + std::log1p(small);
  const double share = log_square > 0 ? 1 / (1 + small) : small / (1 + small);
  return {log_tau - log_sum, 1 - 2 * share};
}

Term mu_prior(double mu) {
  const double slope = -mu / (mu_sd * mu_sd);
  return {0.5 * mu * slope, slope};
}

/// The log likelihood of one school, and its derivative in theta.
Term likelihood(std::size_t school, double theta) {
  const double error = EightSchoolsData::standard_errors[school];
  const double residual = EightSchoolsData::effects[school] - theta;
  const double slope = residual / (error * error);
  return {-0.5 * residual * slope, slope};
}

std::vector<std::string> names_with(const std::string& effect) {
  std::vector<std::string> names{"mu", "log_tau"};
  for (std::size_t j = 1; j <= schools; ++j) names.push_back(effect + "." + std::to_string(j));
  return names;
}

}  // namespace

double EightSchoolsCentred::operator()(std::span<const double> x,
                                       std::span<double> gradient) const {
  const double mu = x[0];
  const double log_tau = x[1];
  const double precision = std::exp(-2 * log_tau);
  const Term of_mu = mu_prior(mu);
  const Term of_log_tau = log_tau_prior(log_tau);
  double value = of_mu.value + of_log_tau.value - static_cast<double>(schools) * log_tau;
  double mu_slope = of_mu.slope;
  double log_tau_slope = of_log_tau.slope - static_cast<double>(schools);
  for (std::size_t j = 0; j < schools; ++j) {
    const double deviation = x[2 + j] - mu;
    const double pull = precision * deviation;
    const Term of_data = likelihood(j, x[2 + j]);
    value += of_data.value - 0.5 * pull * deviation;
    mu_slope += pull;
    log_tau_slope += pull * deviation;
    gradient[2 + j] = of_data.slope - pull;
  }
  gradient[0] = mu_slope;
  gradient[1] = log_tau_slope;
  return value;
}

std::vector<std::string> EightSchoolsCentred::names() const { return names_with("theta"); }

double EightSchoolsNonCentred::operator()(std::span<const double> x,
                                          std::span<double> gradient) const {
  const double mu = x[0];
  const double tau = std::exp(x[1]);
  const Term of_mu = mu_prior(mu);
  const Term of_log_tau = log_tau_prior(x[1]);
  double value = of_mu.value + of_log_tau.value;
  double mu_slope = of_mu.slope;
  double log_tau_slope = of_log_tau.slope;
  for (std::size_t j = 0; j < schools; ++j) {
    const double standardised = x[2 + j];
    const Term of_data = likelihood(j, mu + tau * standardised);
    value += of_data.value - 0.5 * standardised * standardised;
    mu_slope += of_data.slope;
    log_tau_slope += of_data.slope * tau * standardised;
    gradient[2 + j] = of_data.slope * tau - standardised;
  }
  gradient[0] = mu_slope;
  gradient[1] = log_tau_slope;
  return value;
}

std::vector<std::string> EightSchoolsNonCentred::names() const { return names_with("theta_trans"); }

}  // namespace rehmc
