// Eight schools, centred and non-centred.
#include "models/eight_schools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {
namespace {

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
Term likelihood(const SchoolsData& data, std::size_t school, double theta) {
  const double error = data.standard_errors[school];
  const double residual = data.effects[school] - theta;
  const double slope = residual / (error * error);
  return {-0.5 * residual * slope, slope};
}

std::vector<std::string> names_with(const std::string& effect, std::size_t schools) {
  std::vector<std::string> names{"mu", "log_tau"};
  for (std::size_t j = 1; j <= schools; ++j) names.push_back(effect + "." + std::to_string(j));
  return names;
}

/// The coordinates, with tau on its own scale.
std::vector<Quantity> quantities_with(const std::string& effect, std::size_t schools) {
  std::vector<Quantity> quantities;
  for (std::string& name : names_with(effect, schools)) {
    quantities.push_back({std::move(name), quantities.size()});
  }
  quantities[1].name = "tau";
  return quantities;
}

std::shared_ptr<const SchoolsData> checked(SchoolsData data) {
  const std::size_t schools = data.effects.size();
  if (schools == 0) throw DataError("eight schools: found no schools, give at least one");
  if (data.standard_errors.size() != schools) {
    throw DataError(fmt::format("eight schools: found {} effects but {} standard errors", schools,
                                data.standard_errors.size()));
  }
  for (std::size_t j = 0; j < schools; ++j) {
    const double error = data.standard_errors[j];
    if (std::isfinite(data.effects[j]) && error > 0 && std::isfinite(error)) continue;
    throw DataError(fmt::format(
        "eight schools: school {} has effect {} with standard error {}, must be finite with a "
        "positive, finite error",
        j + 1, data.effects[j], error));
  }
  return std::make_shared<const SchoolsData>(std::move(data));
}

}  // namespace

EightSchoolsCentred::EightSchoolsCentred(SchoolsData data) : data_(checked(std::move(data))) {}

EightSchoolsNonCentred::EightSchoolsNonCentred(SchoolsData data)
    : data_(checked(std::move(data))) {}

double EightSchoolsCentred::operator()(std::span<const double> x,
                                       std::span<double> gradient) const {
  const std::size_t schools = data_->effects.size();
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
    const Term of_data = likelihood(*data_, j, x[2 + j]);
    value += of_data.value - 0.5 * pull * deviation;
    mu_slope += pull;
    log_tau_slope += pull * deviation;
    gradient[2 + j] = of_data.slope - pull;
  }
  gradient[0] = mu_slope;
  gradient[1] = log_tau_slope;
  return value;
}

std::vector<std::string> EightSchoolsCentred::names() const {
  return names_with("theta", data_->effects.size());
}

std::vector<Quantity> EightSchoolsCentred::quantities() const {
  return quantities_with("theta", data_->effects.size());
}

void EightSchoolsCentred::evaluate_quantities(std::span<const double> x, std::span<double> values,
                                              Stream* /*stream*/) const {
  std::copy(x.begin(), x.end(), values.begin());
  values[1] = tau(x);
}

double EightSchoolsNonCentred::operator()(std::span<const double> x,
                                          std::span<double> gradient) const {
  const std::size_t schools = data_->effects.size();
  const double mu = x[0];
  const double tau = std::exp(x[1]);
  const Term of_mu = mu_prior(mu);
  const Term of_log_tau = log_tau_prior(x[1]);
  double value = of_mu.value + of_log_tau.value;
  double mu_slope = of_mu.slope;
  double log_tau_slope = of_log_tau.slope;
  for (std::size_t j = 0; j < schools; ++j) {
    const double standardised = x[2 + j];
    const Term of_data = likelihood(*data_, j, mu + tau * standardised);
    value += of_data.value - 0.5 * standardised * standardised;
    mu_slope += of_data.slope;
    log_tau_slope += of_data.slope * tau * standardised;
    gradient[2 + j] = of_data.slope * tau - standardised;
  }
  gradient[0] = mu_slope;
  gradient[1] = log_tau_slope;
  return value;
}

std::vector<std::string> EightSchoolsNonCentred::names() const {
  return names_with("theta_trans", data_->effects.size());
}

std::vector<Quantity> EightSchoolsNonCentred::quantities() const {
  const std::size_t schools = data_->effects.size();
  std::vector<Quantity> quantities = quantities_with("theta_trans", schools);
  for (std::size_t j = 1; j <= schools; ++j) quantities.push_back({"theta." + std::to_string(j)});
  return quantities;
}

void EightSchoolsNonCentred::evaluate_quantities(std::span<const double> x,
                                                 std::span<double> values,
                                                 Stream* /*stream*/) const {
  std::copy(x.begin(), x.end(), values.begin());
  values[1] = tau(x);
  for (std::size_t j = 0; j < data_->effects.size(); ++j) values[x.size() + j] = theta(x, j);
}

namespace {

SchoolsData read_schools(DataReader& data) {
  SchoolsData schools;
  if (data.has("J")) data.all_or_none({"J", "y", "sigma"});
  data.all_or_none({"y", "sigma"});
  schools.effects = data.numbers("y", schools.effects, between(-1e100, 1e100));
  schools.standard_errors = data.numbers("sigma", schools.standard_errors, between(1e-100, 1e100));
  const std::size_t count = schools.effects.size();
  if (schools.standard_errors.size() != count) {
    data.fail("sigma", fmt::format("a list of length {}", schools.standard_errors.size()),
              fmt::format("{} numbers, one for each of y", count));
  }
  const std::uint64_t stated = data.integer("J", count, between(1, most_coordinates));
  if (stated != count) {
    data.fail("J", std::to_string(stated), fmt::format("{}, the length of y", count));
  }
  return schools;
}

}  // namespace

ModelEntries eight_schools_entries() {
  const std::string description =
      "mu ~ N(0, 5), tau ~ half-Cauchy(0, 5), theta_j = mu + tau theta_trans_j with\n"
      "theta_trans_j ~ N(0, 1), y_j ~ N(theta_j, sigma_j) (Rubin 1981; Gelman et al., Bayesian\n"
      "Data Analysis, section 5.5). Parameters: mu, log_tau, theta_trans.1, ...; reported as mu, "
      "tau,\n"
      "theta_trans.1, ..., theta.1, ...";
  const std::string centred_description =
      "mu ~ N(0, 5), tau ~ half-Cauchy(0, 5), theta_j ~ N(mu, tau), y_j ~ N(theta_j, sigma_j):\n"
      "a funnel in (log_tau, theta), on which HMC diverges. Parameters: mu, log_tau, theta.1,\n"
      "...; reported as mu, tau, theta.1, ...";
  const std::string help =
      "J      number of schools\n"
      "y      J measured effects\n"
      "sigma  J standard errors\n"
      "Without data: the eight schools.";
  const std::string example =
      R"({"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]})";
  const std::vector<std::string> keys{"J", "y", "sigma"};
  return {{.place = 60,
           .info = {.name = "eight-schools",
                    .summary = "effects of coaching in eight schools, non-centred",
                    .description = description,
                    .data_help = help,
                    .data_example = example},
           .keys = keys,
           .version = 1,
           .make = [](DataReader& data) -> Density {
             return EightSchoolsNonCentred(read_schools(data));
           }},
          {.place = 70,
           .info = {.name = "eight-schools-centred",
                    .summary = "the same posterior, centred, which is hard for HMC",
                    .description = centred_description,
                    .data_help = help,
                    .data_example = example},
           .keys = keys,
           .version = 1,
           .make = [](DataReader& data) -> Density {
             return EightSchoolsCentred(read_schools(data));
           }}};
}

}  // namespace rehmc
