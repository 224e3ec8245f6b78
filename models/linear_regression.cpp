// Bayesian linear regression: the data are reduced to a triangular matrix once, in the constructor.
#include "models/linear_regression.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "models/data_reader.hpp"
#include "models/design.hpp"
#include "models/entry.hpp"
#include "models/log_scale_prior.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

struct LinearRegression::Rows {
  RowMajor x;
  Eigen::VectorXd y;
  double observations = 0;
  double beta_precision = 0;
  double sigma_sd = 0;
};

namespace {

constexpr double error_sd = 2;

void check(const LinearData& data) {
  check_design("linear regression", data.observations, data.predictors, data.x, data.y.size());
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    if (std::isfinite(data.y[i])) continue;
    throw DataError(
        fmt::format("linear regression: y is {} in row {}, must be finite", data.y[i], i + 1));
  }
}

std::vector<std::string> named(std::size_t predictors, const std::string& last) {
  std::vector<std::string> names;
  for (std::size_t j = 1; j <= predictors; ++j) names.push_back("beta." + std::to_string(j));
  names.push_back(last);
  return names;
}

}  // namespace

LinearRegression::LinearRegression(const LinearData& data, const LinearPriors& priors) {
  check(data);
  require_setting("beta_sd", priors.beta_sd, positive_finite());
  require_setting("sigma_sd", priors.sigma_sd, positive_finite());
  const auto n = static_cast<Eigen::Index>(data.observations);
  const auto p = static_cast<Eigen::Index>(data.predictors);
  Eigen::MatrixXd both(n, p + 1);
  both.leftCols(p) = Eigen::Map<const RowMajor>(data.x.data(), n, p);
  both.col(p) = Eigen::Map<const Eigen::VectorXd>(data.y.data(), n);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(both);
  const Eigen::Index rows = std::min(n, p + 1);
  const Eigen::MatrixXd triangle =
      qr.matrixQR().topRows(rows).triangularView<Eigen::Upper>().toDenseMatrix();
  rows_ = std::make_shared<const Rows>(Rows{.x = triangle.leftCols(p),
                                            .y = triangle.col(p),
                                            .observations = static_cast<double>(data.observations),
                                            .beta_precision = 1 / (priors.beta_sd * priors.beta_sd),
                                            .sigma_sd = priors.sigma_sd});
}

std::size_t LinearRegression::dimension() const {
  return static_cast<std::size_t>(rows_->x.cols()) + 1;
}

double LinearRegression::operator()(std::span<const double> x, std::span<double> gradient) const {
  const Rows& rows = *rows_;
  const Eigen::Index p = rows.x.cols();
  const double log_sigma = x.back();
  const double precision = std::exp(-2 * log_sigma);
  const Eigen::Map<const Eigen::VectorXd> beta(x.data(), p);
  Eigen::Map<Eigen::VectorXd> beta_slope(gradient.data(), p);
  beta_slope = -rows.beta_precision * beta;
  double squares = 0;
  for (Eigen::Index row = 0; row < rows.x.rows(); ++row) {
    // Only the upper triangle is stored: each row has its zeros on the left.
    const Eigen::Index first = std::min(row, p);
    const auto entries = rows.x.row(row).tail(p - first);
    const double residual = rows.y[row] - entries.dot(beta.tail(p - first));
    squares += residual * residual;
    beta_slope.tail(p - first) += (precision * residual) * entries.transpose();
  }
  const LogScaleTerm prior = half_normal_log_scale(log_sigma, rows.sigma_sd);
  gradient[static_cast<std::size_t>(p)] = prior.slope - rows.observations + precision * squares;
  return prior.value - rows.observations * log_sigma - 0.5 * precision * squares -
         0.5 * rows.beta_precision * beta.squaredNorm();
}

std::vector<std::string> LinearRegression::names() const {
  return named(dimension() - 1, "log_sigma");
}

std::vector<Quantity> LinearRegression::quantities() const {
  std::vector<Quantity> quantities;
  for (std::string& name : named(dimension() - 1, "sigma")) {
    quantities.push_back({std::move(name), quantities.size()});
  }
  return quantities;
}

void LinearRegression::evaluate_quantities(std::span<const double> x, std::span<double> values,
                                           Stream* /*stream*/) const {
  std::copy(x.begin(), x.end() - 1, values.begin());
  values.back() = std::exp(x.back());
}

LinearData simulate_linear_data(const LinearSimulation& simulation) {
  require_setting("observations", static_cast<double>(simulation.observations), at_least(1));
  require_setting("predictors", static_cast<double>(simulation.predictors), at_least(1));
  require_setting("correlation", simulation.correlation, inside(-1, 1));
  LinearData data{.observations = simulation.observations,
                  .predictors = simulation.predictors,
                  .x = std::vector<double>(simulation.observations * simulation.predictors),
                  .y = std::vector<double>(simulation.observations)};
  Stream stream({.seed = simulation.seed}, Purpose::test);
  std::vector<double> beta(simulation.predictors);
  stream.fill_normal(beta);
  stream.fill_normal(data.x);
  const double fresh = std::sqrt(1 - simulation.correlation * simulation.correlation);
  for (std::size_t i = 0; i < data.observations; ++i) {
    const std::span<double> row(data.x.data() + i * data.predictors, data.predictors);
    double linear = row[0] * beta[0];
    for (std::size_t j = 1; j < data.predictors; ++j) {
      row[j] = simulation.correlation * row[j - 1] + fresh * row[j];
      linear += row[j] * beta[j];
    }
    data.y[i] = linear + error_sd * stream.normal();
  }
  return data;
}

namespace {

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
    simulation.seed = data.seed(simulation.seed);
    return LinearRegression(simulate_linear_data(simulation), priors);
  }
  DataMatrix x = data.matrix("x", between(-1e100, 1e100));
  std::vector<double> y = data.numbers("y", {}, between(-1e100, 1e100));
  data.require_length("y", y.size(), x.rows);
  return LinearRegression({x.rows, x.columns, std::move(x.values), std::move(y)}, priors);
}

}  // namespace

ModelEntries linear_regression_entries() {
  const std::string description =
      "y_i ~ N(x_i' beta, sigma^2), beta_j ~ N(0, prior_sd^2), sigma ~ half-normal(0,\n"
      "sigma_prior_sd^2). Parameters: beta.1, ..., beta.p, log_sigma; reported as beta.1, ...,\n"
      "beta.p, sigma.";
  const std::string help =
      "x               n rows of p predictors; add a column of ones for an intercept\n"
      "y               n numbers\n"
      "prior_sd        of beta, default 10\n"
      "sigma_prior_sd  default 10: choose both large compared with what you expect\n"
      "Without x and y the data are simulated, with correlated predictors:\n"
      "observations    n, default 50\n"
      "predictors      p, default 8\n"
      "correlation     of neighbouring predictors, default 0.5\n"
      "seed            of the simulation, default 1";
  return {
      {.place = 110,
       .info =
           {.name = "linear-regression",
            .summary = "Bayesian linear regression with unknown error scale",
            .description = description,
            .data_help = help,
            .data_example =
                R"({"x": [[1, 0.5], [1, -1.2], [1, 2]], "y": [2.1, -0.4, 3.9], "prior_sd": 5})"},
       .keys = {"x", "y", "prior_sd", "sigma_prior_sd", "observations", "predictors", "correlation",
                "seed"},
       .version = 1,
       .make = make_linear_regression}};
}

}  // namespace rehmc
