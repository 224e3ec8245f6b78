// Varying intercepts: the constructor reduces the data to three numbers per group.
#include "models/varying_intercepts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "models/aligned_vector.hpp"
#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/log_scale_prior.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

struct VaryingIntercepts::Groups {
  explicit Groups(std::size_t count) : size(count), mean_x(count), mean_y(count) {}

  AlignedVector size;
  AlignedVector mean_x;
  AlignedVector mean_y;
  double observations = 0;
  /// The sum of squared residuals about the group means is least + curvature (beta - best)^2.
  double least = 0;
  double curvature = 0;
  double best = 0;
  double location_precision = 0;
  double scale_sd = 0;
};

namespace {

constexpr std::size_t mu_at = 0;
constexpr std::size_t beta_at = 1;
constexpr std::size_t log_tau_at = 2;
constexpr std::size_t log_sigma_at = 3;
constexpr std::size_t first_group = 4;

/// The number of groups.
std::size_t checked(const GroupedData& data) {
  const std::size_t observations = data.y.size();
  if (observations == 0 || data.x.size() != observations || data.group.size() != observations) {
    throw DataError(
        fmt::format("varying intercepts: group, x and y have {}, {} and {} entries, must have one "
                    "per observation",
                    data.group.size(), data.x.size(), observations));
  }
  for (std::size_t i = 0; i < observations; ++i) {
    if (std::isfinite(data.x[i]) && std::isfinite(data.y[i])) continue;
    throw DataError(
        fmt::format("varying intercepts: observation {} has x = {} and y = {}, must be finite",
                    i + 1, data.x[i], data.y[i]));
  }
  // Sorted, so that a huge number is a gap and not a huge allocation.
  std::vector<std::size_t> sorted = data.group;
  std::ranges::sort(sorted);
  std::size_t groups = 0;
  for (const std::size_t group : sorted) {
    if (group == groups + 1) ++groups;
    if (group == groups && group > 0) continue;
    throw DataError(fmt::format(
        "varying intercepts: found group {} but no observation of group {}, number the groups 1, "
        "2, ... without gaps",
        group, groups + 1));
  }
  return groups;
}

std::vector<std::string> named(const std::string& tau, const std::string& sigma,
                               std::size_t groups) {
  std::vector<std::string> names{"mu", "beta", tau, sigma};
  for (std::size_t j = 1; j <= groups; ++j) names.push_back("a." + std::to_string(j));
  return names;
}

}  // namespace

VaryingIntercepts::VaryingIntercepts(const GroupedData& data,
                                     const VaryingInterceptsPriors& priors) {
  Groups groups(checked(data));
  require_setting("location_sd", priors.location_sd, positive_finite());
  require_setting("scale_sd", priors.scale_sd, positive_finite());
  groups.location_precision = 1 / (priors.location_sd * priors.location_sd);
  groups.scale_sd = priors.scale_sd;
  groups.observations = static_cast<double>(data.y.size());
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const std::size_t j = data.group[i] - 1;
    groups.size[j] += 1;
    groups.mean_x[j] += data.x[i];
    groups.mean_y[j] += data.y[i];
  }
  for (std::size_t j = 0; j < groups.size.size(); ++j) {
    groups.mean_x[j] /= groups.size[j];
    groups.mean_y[j] /= groups.size[j];
  }
  double products = 0;
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const std::size_t j = data.group[i] - 1;
    const double x = data.x[i] - groups.mean_x[j];
    groups.curvature += x * x;
    products += x * (data.y[i] - groups.mean_y[j]);
  }
  if (groups.curvature > 0) groups.best = products / groups.curvature;
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const std::size_t j = data.group[i] - 1;
    const double residual =
        data.y[i] - groups.mean_y[j] - groups.best * (data.x[i] - groups.mean_x[j]);
    groups.least += residual * residual;
  }
  groups_ = std::make_shared<const Groups>(std::move(groups));
}

std::size_t VaryingIntercepts::dimension() const { return first_group + groups_->size.size(); }

double VaryingIntercepts::operator()(std::span<const double> x, std::span<double> gradient) const {
  const Groups& groups = *groups_;
  const double mu = x[mu_at];
  const double beta = x[beta_at];
  const double tau = std::exp(x[log_tau_at]);
  const double precision = std::exp(-2 * x[log_sigma_at]);
  const double* const a = x.data() + first_group;
  const double* const size = groups.size.data();
  const double* const mean_x = groups.mean_x.data();
  const double* const mean_y = groups.mean_y.data();
  double* const slope = gradient.data() + first_group;
  // Of the group means' residuals: their squares, each n_j times; then the sums of n_j times the
  // residual, the same times xbar_j, and times a_j.
  const auto [of_means, pull, pull_x, pull_a, prior] = hot_loop([=, count = groups.size.size()] {
    return lane_sums<5>(count, [=](std::size_t j) {
      const double residual = mean_y[j] - mu - tau * a[j] - beta * mean_x[j];
      const double weighted = size[j] * residual;
      slope[j] = precision * tau * weighted - a[j];
      return std::array<double, 5>{weighted * residual, weighted, weighted * mean_x[j],
                                   weighted * a[j], a[j] * a[j]};
    });
  });
  const double off = beta - groups.best;
  const double squares = of_means + (groups.least + groups.curvature * off * off);
  const LogScaleTerm of_tau = half_normal_log_scale(x[log_tau_at], groups.scale_sd);
  const LogScaleTerm of_sigma = half_normal_log_scale(x[log_sigma_at], groups.scale_sd);
  gradient[mu_at] = precision * pull - groups.location_precision * mu;
  gradient[beta_at] =
      precision * (pull_x - groups.curvature * off) - groups.location_precision * beta;
  gradient[log_tau_at] = of_tau.slope + precision * tau * pull_a;
  gradient[log_sigma_at] = of_sigma.slope - groups.observations + precision * squares;
  return of_tau.value + of_sigma.value - groups.observations * x[log_sigma_at] -
         0.5 * (precision * squares + prior + groups.location_precision * (mu * mu + beta * beta));
}

std::vector<std::string> VaryingIntercepts::names() const {
  return named("log_tau", "log_sigma", groups_->size.size());
}

std::vector<Quantity> VaryingIntercepts::quantities() const {
  const std::size_t groups = groups_->size.size();
  std::vector<Quantity> quantities;
  for (std::string& name : named("tau", "sigma", groups)) {
    quantities.push_back({std::move(name), quantities.size()});
  }
  for (std::size_t j = 1; j <= groups; ++j) quantities.push_back({"alpha." + std::to_string(j)});
  return quantities;
}

void VaryingIntercepts::evaluate_quantities(std::span<const double> x, std::span<double> values,
                                            Stream* /*stream*/) const {
  std::copy(x.begin(), x.end(), values.begin());
  const double tau = std::exp(x[log_tau_at]);
  values[log_tau_at] = tau;
  values[log_sigma_at] = std::exp(x[log_sigma_at]);
  for (std::size_t j = first_group; j < x.size(); ++j) {
    values[x.size() + j - first_group] = x[mu_at] + tau * x[j];
  }
}

GroupedData simulate_varying_intercepts(const VaryingInterceptsSimulation& simulation) {
  const double mu = 1.5;
  const double beta = -0.7;
  const double tau = 0.3;
  const double sigma = 0.75;
  require_setting("groups", static_cast<double>(simulation.groups), at_least(1));
  require_setting("observations", static_cast<double>(simulation.observations),
                  at_least(static_cast<double>(simulation.groups)));
  Stream stream({.seed = simulation.seed}, Purpose::test);
  std::vector<double> alpha(simulation.groups);
  std::vector<double> shares(simulation.groups);  // of the observations, cumulative
  double total = 0;
  for (std::size_t j = 0; j < simulation.groups; ++j) {
    alpha[j] = mu + tau * stream.normal();
    total += std::exp(stream.normal());
    shares[j] = total;
  }
  GroupedData data;
  for (std::size_t i = 0; i < simulation.observations; ++i) {
    // Each group has at least one observation.
    std::size_t group = i;
    if (i >= simulation.groups) {
      const auto place = std::ranges::lower_bound(shares, total * stream.uniform());
      group = static_cast<std::size_t>(place - shares.begin());
    }
    const double x = stream.chance(0.2) ? 1 : 0;
    data.group.push_back(group + 1);
    data.x.push_back(x);
    data.y.push_back(alpha[group] + beta * x + sigma * stream.normal());
  }
  return data;
}

namespace {

Density make_varying_intercepts(DataReader& data) {
  data.exclude("y", {"groups", "observations", "seed"});
  VaryingInterceptsPriors priors;
  priors.location_sd = data.number("prior_sd", priors.location_sd, between(1e-100, 1e100));
  priors.scale_sd = data.number("scale_prior_sd", priors.scale_sd, between(1e-100, 1e100));
  if (!data.all_or_none({"group", "x", "y"})) {
    VaryingInterceptsSimulation simulation;
    simulation.groups = data.integer("groups", simulation.groups, between(1, 1e6));
    const auto least = static_cast<double>(simulation.groups);
    simulation.observations = data.integer(
        "observations", std::max(simulation.observations, simulation.groups), between(least, 1e7));
    simulation.seed = data.seed(simulation.seed);
    return VaryingIntercepts(simulate_varying_intercepts(simulation), priors);
  }
  GroupedData grouped;
  const std::vector<std::uint64_t> group =
      data.whole_numbers("group", between(1, most_coordinates));
  grouped.group.assign(group.begin(), group.end());
  grouped.x = data.numbers("x", {}, between(-1e100, 1e100));
  grouped.y = data.numbers("y", {}, between(-1e100, 1e100));
  for (const auto& [key, length] : {std::pair{"x", grouped.x.size()}, {"y", grouped.y.size()}}) {
    if (length == group.size()) continue;
    data.fail(key, fmt::format("a list of length {}", length),
              fmt::format("{} numbers, one for each of group", group.size()));
  }
  return data.with_file([&] { return VaryingIntercepts(grouped, priors); });
}

}  // namespace

ModelEntries varying_intercepts_entries() {
  const std::string description =
      "y_i ~ N(alpha_j + beta x_i, sigma^2) for observation i of group j, alpha_j = mu + tau a_j\n"
      "with a_j ~ N(0, 1); mu, beta ~ N(0, prior_sd^2); tau, sigma ~ half-normal(0,\n"
      "scale_prior_sd^2) (Gelman and Hill 2007, Data Analysis Using Regression, section 12.4).\n"
      "Parameters: mu, beta, log_tau, log_sigma, a.1, ..., a.J; reported as mu, beta, tau, sigma,\n"
      "a.1, ..., a.J, alpha.1, ..., alpha.J.";
  const std::string help =
      "group           n numbers out of 1, ..., J: the group of each observation\n"
      "x               n numbers, the predictor\n"
      "y               n numbers\n"
      "prior_sd        of mu and beta, default 10\n"
      "scale_prior_sd  of tau and sigma, default 10: choose both large compared with what you "
      "expect\n"
      "Without group, x and y the data are simulated, with groups of different size:\n"
      "groups          J, default 85\n"
      "observations    n, default 919, at least J\n"
      "seed            of the simulation, default 1";
  return {
      {.place = 140,
       .info =
           {.name = "varying-intercepts",
            .summary = "a multilevel regression with 85 groups, non-centred",
            .description = description,
            .data_help = help,
            .data_example =
                R"({"group": [1, 1, 2, 3, 3], "x": [0, 1, 0, 0, 1], "y": [1.4, 0.6, 1.1, 2, 0.9]})"},
       .keys = {"group", "x", "y", "prior_sd", "scale_prior_sd", "groups", "observations", "seed"},
       .version = 1,
       .make = make_varying_intercepts}};
}

}  // namespace rehmc
