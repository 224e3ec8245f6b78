// Bayesian logistic regression with a normal prior.
#include "models/logistic_regression.hpp"

#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc {

LogisticRegression::LogisticRegression(const LogisticData& data, double prior_sd)
    : likelihood_(data), prior_precision_(1 / (prior_sd * prior_sd)) {
  require_setting("prior_sd", prior_sd, positive_finite());
}

double LogisticRegression::operator()(std::span<const double> x, std::span<double> gradient) {
  const double value = prior(x, gradient);
  return likelihood_.add(x, gradient) + value;
}

void LogisticRegression::evaluate_batch(const Batch& batch) {
  const std::size_t d = dimension();
  for (std::size_t c = 0; c < batch.columns; ++c) {
    batch.log_densities[c] =
        prior({batch.positions + c * batch.stride, d}, {batch.gradients + c * batch.stride, d});
  }
  likelihood_.add_batch(batch);
}

double LogisticRegression::prior(std::span<const double> x, std::span<double> gradient) const {
  double squares = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    squares += x[j] * x[j];
    gradient[j] = -prior_precision_ * x[j];
  }
  return -0.5 * prior_precision_ * squares;
}

std::vector<std::string> LogisticRegression::names() const {
  std::vector<std::string> names;
  for (std::size_t j = 1; j <= dimension(); ++j) names.push_back("beta." + std::to_string(j));
  return names;
}

LogisticData simulate_logistic_data(const LogisticSimulation& simulation) {
  require_setting("observations", static_cast<double>(simulation.observations), at_least(1));
  require_setting("predictors", static_cast<double>(simulation.predictors), at_least(1));
  LogisticData data{.observations = simulation.observations,
                    .predictors = simulation.predictors,
                    .x = std::vector<double>(simulation.observations * simulation.predictors),
                    .y = std::vector<int>(simulation.observations)};
  Stream stream({.seed = simulation.seed}, Purpose::test);
  std::vector<double> beta(simulation.predictors);
  stream.fill_normal(beta);
  for (double& entry : beta) entry /= std::sqrt(static_cast<double>(simulation.predictors));
  stream.fill_normal(data.x);
  for (std::size_t i = 0; i < data.observations; ++i) {
    double* const row = data.x.data() + i * data.predictors;
    row[0] = 1;
    double linear = 0;
    for (std::size_t j = 0; j < data.predictors; ++j) linear += row[j] * beta[j];
    data.y[i] = stream.uniform() < 1 / (1 + std::exp(-linear)) ? 1 : 0;
  }
  return data;
}

namespace {

Density make_logistic_regression(DataReader& data) {
  data.exclude("x", {"observations", "predictors", "seed"});
  const double prior_sd = data.number("prior_sd", 1, between(1e-100, 1e100));
  if (!data.all_or_none({"x", "y"})) {
    LogisticSimulation simulation;
    simulation.observations =
        data.integer("observations", simulation.observations, between(1, 1e6));
    simulation.predictors = data.integer("predictors", simulation.predictors, between(1, 1e4));
    simulation.seed = data.seed(simulation.seed);
    return LogisticRegression(simulate_logistic_data(simulation), prior_sd);
  }
  return LogisticRegression(read_logistic_data(data), prior_sd);
}

}  // namespace

ModelEntries logistic_regression_entries() {
  const std::string description =
      "y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, prior_sd^2).\n"
      "Parameters: beta.1, ..., beta.p.";
  const std::string help =
      "x             n rows of p predictors; add a column of ones for an intercept\n"
      "y             n numbers, 0 or 1\n"
      "prior_sd      default 1\n"
      "Without x and y the data are simulated, including an intercept:\n"
      "observations  n, default 1000\n"
      "predictors    p, default 25\n"
      "seed          of the simulation, default 1";
  return {{.place = 120,
           .info = {.name = "logistic-regression",
                    .summary = "Bayesian logistic regression",
                    .description = description,
                    .data_help = help,
                    .data_example =
                        R"({"x": [[1, 0.5], [1, -1.2], [1, 2]], "y": [1, 0, 1], "prior_sd": 2.5})"},
           .keys = {"x", "y", "prior_sd", "observations", "predictors", "seed"},
           .version = 1,
           .make = make_logistic_regression}};
}

}  // namespace rehmc
