// The built-in targets by name: one entry each, with its help and how it is made from data.
#include "models/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "models/banana.hpp"
#include "models/correlated_normal.hpp"
#include "models/cox_process.hpp"
#include "models/data_reader.hpp"
#include "models/diagonal_normal.hpp"
#include "models/eight_schools.hpp"
#include "models/funnel.hpp"
#include "models/hierarchical_logistic.hpp"
#include "models/linear_regression.hpp"
#include "models/log_exponential.hpp"
#include "models/logistic_regression.hpp"
#include "models/standard_normal.hpp"
#include "models/stochastic_volatility.hpp"
#include "models/student_t.hpp"
#include "models/two_mode_mixture.hpp"
#include "models/varying_intercepts.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc {
namespace {

struct Entry {
  ModelInfo info;
  std::vector<std::string> keys;
  /// Raised when the same data come to mean another density, so that its identity changes too.
  int version;
  std::function<Density(DataReader&)> make;
};

constexpr double most_coordinates = 1e7;
/// Beyond this a dense covariance takes gigabytes, and minutes to factor.
constexpr double most_dense_coordinates = 5000;
/// Whole numbers that a double holds exactly.
constexpr double most_seed = 9007199254740991.0;

std::size_t read_dimension(DataReader& data, std::size_t missing, double least = 1) {
  return data.integer("dimension", missing, between(least, most_coordinates));
}

WishartSettings read_wishart(DataReader& data) {
  WishartSettings settings;
  settings.dimension =
      data.integer("dimension", settings.dimension, between(1, most_dense_coordinates));
  settings.degrees_of_freedom =
      data.integer("degrees_of_freedom", settings.dimension,
                   between(static_cast<double>(settings.dimension), 4 * most_dense_coordinates));
  settings.seed = data.integer("seed", settings.seed, between(0, most_seed));
  return settings;
}

Density make_diagonal_normal(DataReader& data) {
  data.exclude("standard_deviations", {"dimension", "degrees_of_freedom", "seed"});
  // The squares and their inverses must be finite too.
  if (data.has("standard_deviations")) {
    return DiagonalNormal(data.numbers("standard_deviations", {}, between(1e-100, 1e100)));
  }
  std::vector<double> scales = wishart_eigenvalues(read_wishart(data));
  for (double& scale : scales) scale = std::sqrt(scale);
  return DiagonalNormal(scales);
}

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

/// A list that must have one number for each row of a matrix.
void require_length(const DataReader& data, const std::string& key, std::size_t length,
                    std::size_t rows) {
  if (length == rows) return;
  data.fail(key, fmt::format("a list of length {}", length),
            fmt::format("{} numbers, one for each row", rows));
}

Density make_linear_regression(DataReader& data) {
  data.exclude("x", {"observations", "predictors", "correlation", "seed"});
  LinearPriors priors;
  priors.beta_sd = data.number("prior_sd", priors.beta_sd, between(1e-100, 1e100));
  priors.sigma_sd = data.number("sigma_prior_sd", priors.sigma_sd, between(1e-100, 1e100));
  if (!data.all_or_none({"x", "y"})) {
    LinearSimulation simulation;
    simulation.observations =
        data.integer("observations", simulation.observations, between(1, 1e6));
    simulation.predictors = data.integer("predictors", simulation.predictors, between(1, 1e3));
    simulation.correlation = data.number("correlation", simulation.correlation, inside(-1, 1));
    simulation.seed = data.integer("seed", simulation.seed, between(0, most_seed));
    return LinearRegression(simulate_linear_data(simulation), priors);
  }
  DataMatrix x = data.matrix("x", between(-1e100, 1e100));
  std::vector<double> y = data.numbers("y", {}, between(-1e100, 1e100));
  require_length(data, "y", y.size(), x.rows);
  return LinearRegression({x.rows, x.columns, std::move(x.values), std::move(y)}, priors);
}

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
    simulation.seed = data.integer("seed", simulation.seed, between(0, most_seed));
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

Density make_logistic_regression(DataReader& data) {
  data.exclude("x", {"observations", "predictors", "seed"});
  const double prior_sd = data.number("prior_sd", 1, between(1e-100, 1e100));
  if (!data.all_or_none({"x", "y"})) {
    LogisticSimulation simulation;
    simulation.observations =
        data.integer("observations", simulation.observations, between(1, 1e6));
    simulation.predictors = data.integer("predictors", simulation.predictors, between(1, 1e4));
    simulation.seed = data.integer("seed", simulation.seed, between(0, most_seed));
    return LogisticRegression(simulate_logistic_data(simulation), prior_sd);
  }
  DataMatrix x = data.matrix("x", between(-1e100, 1e100));
  std::vector<int> y = data.zeros_and_ones("y");
  require_length(data, "y", y.size(), x.rows);
  return LogisticRegression({x.rows, x.columns, std::move(x.values), std::move(y)}, prior_sd);
}

Density make_hierarchical_logistic(DataReader& data) {
  for (const std::string key : {"x", "attributes"}) {
    data.exclude(key, {"observations", "number_of_attributes", "seed"});
  }
  data.exclude("x", {"attributes"});
  if (data.has("attributes")) {
    data.all_or_none({"attributes", "y"});
    DataMatrix values = data.matrix("attributes", between(-1e100, 1e100));
    std::vector<int> y = data.zeros_and_ones("y");
    require_length(data, "y", y.size(), values.rows);
    return data.with_file([&] {
      return HierarchicalLogistic(
          with_interactions({values.rows, values.columns, std::move(values.values), std::move(y)}));
    });
  }
  if (!data.all_or_none({"x", "y"})) {
    AttributeSimulation simulation;
    simulation.observations =
        data.integer("observations", simulation.observations, between(10, 1e6));
    simulation.attributes =
        data.integer("number_of_attributes", simulation.attributes, between(1, 100));
    simulation.seed = data.integer("seed", simulation.seed, between(0, most_seed));
    return HierarchicalLogistic(with_interactions(simulate_attributes(simulation)));
  }
  DataMatrix x = data.matrix("x", between(-1e100, 1e100));
  std::vector<int> y = data.zeros_and_ones("y");
  require_length(data, "y", y.size(), x.rows);
  return HierarchicalLogistic({x.rows, x.columns, std::move(x.values), std::move(y)});
}

Density make_stochastic_volatility(DataReader& data) {
  data.exclude("closes", {"returns", "days", "seed"});
  data.exclude("returns", {"days", "seed"});
  if (data.has("closes")) {
    const std::vector<double> closes = data.numbers("closes", {}, between(1e-100, 1e100));
    return data.with_file([&] { return StochasticVolatility(returns_of_closes(closes)); });
  }
  if (data.has("returns")) {
    const std::vector<double> returns = data.numbers("returns", {}, between(-1e3, 1e3));
    return data.with_file([&] { return StochasticVolatility(returns); });
  }
  VolatilitySimulation simulation;
  simulation.days = data.integer("days", simulation.days, between(2, most_coordinates));
  simulation.seed = data.integer("seed", simulation.seed, between(0, most_seed));
  return StochasticVolatility(simulate_returns(simulation));
}

template <class Process>
Density make_cox_process(DataReader& data) {
  data.exclude("counts", {"size", "seed"});
  CoxSettings settings;
  settings.length_scale = data.number("length_scale", settings.length_scale, between(1e-3, 1e2));
  settings.variance = data.number("variance", settings.variance, between(1e-3, 10));
  settings.expected_points =
      data.number("expected_points", settings.expected_points, between(1e-3, 1e6));
  if (!data.has("counts")) {
    settings.size = data.integer("size", settings.size, between(2, 128));
    const std::uint64_t seed = data.integer("seed", 1, between(0, most_seed));
    return Process(settings, simulate_cox_counts(settings, seed));
  }
  const DataMatrix cells = data.matrix("counts", between(0, 1e9));
  if (cells.rows != cells.columns || cells.rows < 2 || cells.rows > 128) {
    data.fail("counts", fmt::format("{} rows of {} numbers", cells.rows, cells.columns),
              "a square of 2 to 128 rows");
  }
  settings.size = cells.rows;
  std::vector<std::uint64_t> counts;
  for (const double value : cells.values) {
    if (value != std::floor(value)) {
      data.fail(fmt::format("counts[{}][{}]", counts.size() / cells.columns + 1,
                            counts.size() % cells.columns + 1),
                fmt::format("{}", value), "a whole number");
    }
    counts.push_back(static_cast<std::uint64_t>(value));
  }
  return Process(settings, counts);
}

std::vector<Entry> make_entries() {
  const std::string schools_help =
      "J      number of schools\n"
      "y      J measured effects\n"
      "sigma  J standard errors\n"
      "Without data: the eight schools.";
  const std::string schools_example =
      R"({"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]})";
  const std::vector<std::string> schools_keys{"J", "y", "sigma"};
  const std::string wishart_help =
      "dimension           default 250, at most 5000\n"
      "degrees_of_freedom  default: the dimension; more of them, a milder covariance\n"
      "seed                of the Wishart draw, default 1";

  std::vector<Entry> entries;
  entries.push_back(
      {{"standard-normal", "independent standard normal coordinates",
        "x_i ~ N(0, 1), i = 1, ..., d.\nParameters: x.1, ..., x.d.", "dimension  default 10",
        R"({"dimension": 250})"},
       {"dimension"},
       1,
       [](DataReader& data) -> Density { return StandardNormal(read_dimension(data, 10)); }});
  entries.push_back(
      {{"diagonal-normal", "independent normal coordinates of very different scales",
        "x_i ~ N(0, s_i^2). By default the variances are the eigenvalues of a Wishart draw whose\n"
        "mean is the identity, as hard for HMC as the first test case of Nishimura and Dunson\n"
        "(2020). Parameters: x.1, ..., x.d.",
        "standard_deviations  a list; or\n" + wishart_help,
        R"({"standard_deviations": [0.1, 1, 10]})"},
       {"standard_deviations", "dimension", "degrees_of_freedom", "seed"},
       1,
       make_diagonal_normal});
  entries.push_back(
      {{"correlated-normal", "a dense normal whose covariance is a Wishart draw",
        "x ~ N(0, S), where S is a Wishart draw with mean identity: the first test case of\n"
        "Nishimura and Dunson (2020) at its default size. Parameters: x.1, ..., x.d.",
        wishart_help, R"({"dimension": 50, "degrees_of_freedom": 100, "seed": 1})"},
       {"dimension", "degrees_of_freedom", "seed"},
       1,
       [](DataReader& data) -> Density {
         return CorrelatedNormal(wishart_draw(read_wishart(data)));
       }});
  entries.push_back({{"banana", "two numbers of which one curved sum was observed",
                      "x_1, x_2 ~ N(0, 1) and y ~ N(x_1 + x_2^2, 0.4^2): figure 1 of Nishimura and "
                      "Dunson (2020).\n"
                      "Parameters: x.1, x.2.",
                      "y  the observation, default 1", R"({"y": 1})"},
                     {"y"},
                     1,
                     [](DataReader& data) -> Density {
                       return Banana(data.number("y", 1, between(-1e3, 1e3)));
                     }});
  entries.push_back(
      {{"funnel", "Neal's funnel: the scale of all others is itself a coordinate",
        "v ~ N(0, 3^2) and x_i ~ N(0, exp(v)), exp(v) being the variance (Neal 2003, Slice\n"
        "sampling, section 8). No step size suits both mouth and neck: expect divergences.\n"
        "Parameters: v, x.1, ..., x.(d-1).",
        "dimension  counts v too, default 10, at least 2", R"({"dimension": 10})"},
       {"dimension"},
       1,
       [](DataReader& data) -> Density { return Funnel(read_dimension(data, 10, 2)); }});
  entries.push_back(
      {{"eight-schools", "effects of coaching in eight schools, non-centred",
        "mu ~ N(0, 5), tau ~ half-Cauchy(0, 5), theta_j = mu + tau theta_trans_j with\n"
        "theta_trans_j ~ N(0, 1), y_j ~ N(theta_j, sigma_j) (Rubin 1981; Gelman et al., Bayesian\n"
        "Data Analysis, section 5.5). Parameters: mu, log_tau, theta_trans.1, ...; read as mu, "
        "tau,\n"
        "theta_trans.1, ..., theta.1, ...",
        schools_help, schools_example},
       schools_keys,
       1,
       [](DataReader& data) -> Density { return EightSchoolsNonCentred(read_schools(data)); }});
  entries.push_back(
      {{"eight-schools-centred", "the same posterior in the form that HMC finds hard",
        "mu ~ N(0, 5), tau ~ half-Cauchy(0, 5), theta_j ~ N(mu, tau), y_j ~ N(theta_j, sigma_j):\n"
        "a funnel in (log_tau, theta), on which HMC diverges. Parameters: mu, log_tau, theta.1,\n"
        "...; read as mu, tau, theta.1, ...",
        schools_help, schools_example},
       schools_keys,
       1,
       [](DataReader& data) -> Density { return EightSchoolsCentred(read_schools(data)); }});
  entries.push_back({{"student-t", "independent heavy-tailed coordinates",
                      "x_i ~ Student-t, centred at 0 with scale 1. Parameters: x.1, ..., x.d.",
                      "dimension           default 10\n"
                      "degrees_of_freedom  default 5; 1 is the Cauchy, which has no mean",
                      R"({"dimension": 10, "degrees_of_freedom": 5})"},
                     {"dimension", "degrees_of_freedom"},
                     1,
                     [](DataReader& data) -> Density {
                       const std::size_t dimension = read_dimension(data, 10);
                       return StudentT(dimension,
                                       data.number("degrees_of_freedom", 5, between(1e-3, 1e6)));
                     }});
  entries.push_back(
      {{"log-exponential", "independent skewed coordinates",
        "x_i = log of an exponential(1) variable, log density x - exp(x): one light and one heavy\n"
        "tail. Parameters: x.1, ..., x.d.",
        "dimension  default 10", R"({"dimension": 10})"},
       {"dimension"},
       1,
       [](DataReader& data) -> Density { return LogExponential(read_dimension(data, 10)); }});
  entries.push_back(
      {{"two-mode-mixture", "two normal modes a few standard deviations apart",
        "x ~ N(-m/2, 1) or N(m/2, 1) in the first coordinate, each with probability 1/2, and\n"
        "N(0, 1) in all others, where m is the distance: at 4 chains cross now and then, at 8\n"
        "hardly ever. Parameters: x.1, ..., x.d.",
        "dimension  default 2\n"
        "distance   of the modes in standard deviations, default 4, at most 1000",
        R"({"dimension": 10, "distance": 6})"},
       {"dimension", "distance"},
       1,
       [](DataReader& data) -> Density {
         TwoModeSettings settings;
         settings.dimension = read_dimension(data, settings.dimension);
         settings.distance = data.number("distance", settings.distance, between(0, 1000));
         return TwoModeMixture(settings);
       }});
  entries.push_back(
      {{"linear-regression", "Bayesian linear regression with unknown error scale",
        "y_i ~ N(x_i' beta, sigma^2), beta_j ~ N(0, prior_sd^2), sigma ~ half-normal(0,\n"
        "sigma_prior_sd^2). Parameters: beta.1, ..., beta.p, log_sigma; read as beta.1, ...,\n"
        "beta.p, sigma.",
        "x               n rows of p predictors; put a column of ones for an intercept\n"
        "y               n numbers\n"
        "prior_sd        of beta, default 10\n"
        "sigma_prior_sd  default 10: choose both large beside what you expect\n"
        "Without x and y the data are simulated, with correlated predictors:\n"
        "observations    n, default 50\n"
        "predictors      p, default 8\n"
        "correlation     of neighbouring predictors, default 0.5\n"
        "seed            of the simulation, default 1",
        R"({"x": [[1, 0.5], [1, -1.2], [1, 2]], "y": [2.1, -0.4, 3.9], "prior_sd": 5})"},
       {"x", "y", "prior_sd", "sigma_prior_sd", "observations", "predictors", "correlation",
        "seed"},
       1,
       make_linear_regression});
  entries.push_back(
      {{"logistic-regression", "Bayesian logistic regression",
        "y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, prior_sd^2).\n"
        "Parameters: beta.1, ..., beta.p.",
        "x             n rows of p predictors; put a column of ones for an intercept\n"
        "y             n numbers, 0 or 1\n"
        "prior_sd      default 1\n"
        "Without x and y the data are simulated, an intercept among the predictors:\n"
        "observations  n, default 1000\n"
        "predictors    p, default 25\n"
        "seed          of the simulation, default 1",
        R"({"x": [[1, 0.5], [1, -1.2], [1, 2]], "y": [1, 0, 1], "prior_sd": 2.5})"},
       {"x", "y", "prior_sd", "observations", "predictors", "seed"},
       1,
       make_logistic_regression});
  entries.push_back(
      {{"hierarchical-logistic", "logistic regression whose coefficients share an unknown scale",
        "y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, sigma^2), a flat prior on "
        "sigma:\n"
        "the second test case of Nishimura and Dunson (2020), whose size it has by default.\n"
        "Improper where a plane separates the two classes of y.\n"
        "Parameters: log_sigma, beta.1, ..., beta.p.",
        "x                     n rows of p predictors; put a column of ones for an intercept; or\n"
        "attributes            n rows of k numbers: the predictors are an intercept, these "
        "numbers\n"
        "                      standardised, and all products of two of them, standardised again\n"
        "y                     n numbers, 0 or 1\n"
        "Without these the data are simulated, a stand-in for the German credit data:\n"
        "observations          n, default 1000\n"
        "number_of_attributes  k, default 24: p = 301\n"
        "seed                  of the simulation, default 1",
        R"({"attributes": [[1, 2.5], [3, 0], [2, 1], [4, 7]], "y": [1, 0, 0, 1]})"},
       {"x", "attributes", "y", "observations", "number_of_attributes", "seed"},
       1,
       make_hierarchical_logistic});
  entries.push_back(
      {{"varying-intercepts", "a multilevel regression with 85 groups, non-centred",
        "y_i ~ N(alpha_j + beta x_i, sigma^2) for observation i of group j, alpha_j = mu + tau "
        "a_j\n"
        "with a_j ~ N(0, 1); mu, beta ~ N(0, prior_sd^2); tau, sigma ~ half-normal(0,\n"
        "scale_prior_sd^2) (Gelman and Hill 2007, Data Analysis Using Regression, section 12.4).\n"
        "Parameters: mu, beta, log_tau, log_sigma, a.1, ..., a.J; read as mu, beta, tau, sigma,\n"
        "a.1, ..., a.J, alpha.1, ..., alpha.J.",
        "group           n numbers out of 1, ..., J: the group of each observation\n"
        "x               n numbers, the predictor\n"
        "y               n numbers\n"
        "prior_sd        of mu and beta, default 10\n"
        "scale_prior_sd  of tau and sigma, default 10: choose both large beside what you expect\n"
        "Without group, x and y the data are simulated, with groups of different size:\n"
        "groups          J, default 85\n"
        "observations    n, default 919, at least J\n"
        "seed            of the simulation, default 1",
        R"({"group": [1, 1, 2, 3, 3], "x": [0, 1, 0, 0, 1], "y": [1.4, 0.6, 1.1, 2, 0.9]})"},
       {"group", "x", "y", "prior_sd", "scale_prior_sd", "groups", "observations", "seed"},
       1,
       make_varying_intercepts});
  entries.push_back(
      {{"stochastic-volatility", "the volatility of an index on each of 3000 days",
        "log(y_i / y_(i-1)) ~ N(0, s_i^2) for closes y_i, 100 log(s_i / s_(i-1)) ~ N(0, 1/tau),\n"
        "s_0 ~ exponential with mean 1/10, tau ~ gamma(1/2, 1/2), integrated out: the third test\n"
        "case of Nishimura and Dunson (2020), whose size it has by default.\n"
        "Parameters: log_s.1, ..., log_s.d, one per close.",
        "closes   d closes in sequence, no two neighbours equal; or\n"
        "returns  d - 1 returns log(y_i / y_(i-1)), none of them zero\n"
        "Without these the returns are simulated:\n"
        "days     d, default 3000\n"
        "seed     of the simulation, default 1",
        R"({"closes": [1135.26, 1136.03, 1126.52, 1128.59]})"},
       {"closes", "returns", "days", "seed"},
       1,
       make_stochastic_volatility});
  const std::string cox_help =
      "counts           m rows of m whole numbers; without them they are simulated:\n"
      "size             m, default 64, at most 128\n"
      "seed             of the simulation, default 1\n"
      "length_scale     default 1/33\n"
      "variance         default 1.91\n"
      "expected_points  default 126";
  const std::vector<std::string> cox_keys{"counts",       "size",     "seed",
                                          "length_scale", "variance", "expected_points"};
  entries.push_back(
      {{"cox-process", "a log-Gaussian Cox process on a grid of 64 x 64 cells",
        "Counts y_ij ~ Poisson(exp(x_ij) / m^2) on an m x m grid, x a Gaussian process with mean\n"
        "log(expected_points) - variance / 2 and covariance variance exp(-distance /\n"
        "length_scale), the side of the grid being 1: the last test case of Nishimura and Dunson\n"
        "(2020), after Girolami and Calderhead (2011). Parameters: x.1.1, x.1.2, ..., x.m.m.",
        cox_help, R"({"size": 16, "seed": 2})"},
       cox_keys,
       1,
       make_cox_process<CoxProcess>});
  entries.push_back(
      {{"cox-process-whitened", "the same posterior in coordinates that suit the unit metric",
        "The model cox-process in u, where x = mu + A u and A A' is the inverse of the constant\n"
        "metric of Girolami and Calderhead (2011): --metric unit here is their Riemannian\n"
        "manifold HMC there. Parameters: u.1, ..., u.(m m); read as x.1.1, x.1.2, ..., x.m.m.",
        cox_help, R"({"size": 16, "seed": 2})"},
       cox_keys,
       1,
       make_cox_process<WhitenedCoxProcess>});
  return entries;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = make_entries();
  return all;
}

const Entry& entry_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  const std::string suggestion = did_you_mean(name, names);
  throw ConfigError(fmt::format("no built-in model is called '{}'{} `rehmc models` lists them all.",
                                name, suggestion.empty() ? "." : suggestion));
}

}  // namespace

const std::vector<ModelInfo>& built_in_models() {
  static const std::vector<ModelInfo> infos = [] {
    std::vector<ModelInfo> result;
    for (const Entry& entry : entries()) result.push_back(entry.info);
    return result;
  }();
  return infos;
}

const ModelInfo& model_info(const std::string& name) { return entry_of(name).info; }

BuiltModel make_model(const std::string& name, const std::string& data_text,
                      const std::string& data_file) {
  const Entry& entry = entry_of(name);
  DataReader data(data_text, data_file, entry.keys);
  Density density = entry.make(data);
  const std::string identity =
      content_hash(fmt::format("{} version {}\n{}", name, entry.version, data.canonical()));
  return {std::move(density), name, identity};
}

}  // namespace rehmc
