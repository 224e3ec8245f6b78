// A normal with a dense covariance and mean zero.
#include "models/correlated_normal.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/normal_distribution.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

struct CorrelatedNormal::Matrices {
  Eigen::MatrixXd covariance;
  Eigen::MatrixXd negative_precision;
  Eigen::MatrixXd factor;  ///< L with L L' = covariance
};

CorrelatedNormal::CorrelatedNormal(std::span<const double> covariance) {
  const auto dimension =
      static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(covariance.size()))));
  if (dimension == 0 || static_cast<std::size_t>(dimension * dimension) != covariance.size()) {
    throw DataError(fmt::format(
        "correlated normal: the covariance has {} entries, must be d * d for some d >= 1",
        covariance.size()));
  }
  Matrices matrices;
  matrices.covariance = Eigen::Map<const Eigen::MatrixXd>(covariance.data(), dimension, dimension);
  for (Eigen::Index row = 0; row < dimension; ++row) {
    for (Eigen::Index column = 0; column < dimension; ++column) {
      const double entry = covariance[static_cast<std::size_t>(row * dimension + column)];
      const double mirror = covariance[static_cast<std::size_t>(column * dimension + row)];
      const double scale = std::sqrt(std::abs(matrices.covariance(row, row)) *
                                     std::abs(matrices.covariance(column, column)));
      // Written so that a NaN is caught too.
      if (std::isfinite(entry) && std::abs(entry - mirror) <= 1e-10 * scale) continue;
      throw DataError(fmt::format(
          "correlated normal: the covariance has {} in row {}, column {}, and {} in its mirror "
          "entry; it must be finite and symmetric",
          entry, row + 1, column + 1, mirror));
    }
  }
  const Eigen::LLT<Eigen::MatrixXd> cholesky(matrices.covariance);
  if (cholesky.info() != Eigen::Success) {
    throw DataError("correlated normal: the covariance is not positive definite");
  }
  matrices.factor = cholesky.matrixL();
  matrices.negative_precision = -cholesky.solve(Eigen::MatrixXd::Identity(dimension, dimension));
  matrices_ = std::make_shared<const Matrices>(std::move(matrices));
}

double CorrelatedNormal::operator()(std::span<const double> x, std::span<double> gradient) const {
  const Eigen::MatrixXd& negative_precision = matrices_->negative_precision;
  const Eigen::Map<const Eigen::VectorXd> position(x.data(), negative_precision.rows());
  Eigen::Map<Eigen::VectorXd> derivative(gradient.data(), negative_precision.rows());
  derivative.noalias() = negative_precision * position;
  return 0.5 * position.dot(derivative);
}

std::size_t CorrelatedNormal::dimension() const {
  return static_cast<std::size_t>(matrices_->covariance.rows());
}

std::span<const double> CorrelatedNormal::covariance() const {
  return {matrices_->covariance.data(), dimension() * dimension()};
}

void CorrelatedNormal::sample(Stream& stream, std::span<double> x) const {
  stream.fill_normal(x);
  // x = L z in place: entry i needs z_0 ... z_i only, so the last comes first.
  const Eigen::MatrixXd& factor = matrices_->factor;
  Eigen::Map<Eigen::VectorXd> z(x.data(), factor.rows());
  for (Eigen::Index i = factor.rows(); i-- > 0;) {
    z[i] = factor.row(i).head(i + 1).dot(z.head(i + 1));
  }
}

double CorrelatedNormal::variance(std::size_t coordinate) const {
  const auto i = static_cast<Eigen::Index>(coordinate);
  return matrices_->covariance(i, i);
}

double CorrelatedNormal::cumulative(std::size_t coordinate, double value) const {
  return normal_cumulative(value / std::sqrt(variance(coordinate)));
}

ModelEntries correlated_normal_entries() {
  const std::string description =
      "x ~ N(0, S), where S is a Wishart draw with mean identity: the first test case of\n"
      "Nishimura and Dunson (2020) at its default size. Parameters: x.1, ..., x.d.";
  return {{.place = 30,
           .info = {.name = "correlated-normal",
                    .summary = "a dense normal whose covariance is a Wishart draw",
                    .description = description,
                    .data_help = wishart_help(),
                    .data_example = R"({"dimension": 50, "degrees_of_freedom": 100, "seed": 1})"},
           .keys = {"dimension", "degrees_of_freedom", "seed"},
           .version = 1,
           .make = [](DataReader& data) -> Density {
             return CorrelatedNormal(wishart_draw(read_wishart(data)));
           }}};
}

}  // namespace rehmc
