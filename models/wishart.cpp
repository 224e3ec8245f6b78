// Draws from a Wishart distribution whose mean is the identity.
#include "models/wishart.hpp"

#include <Eigen/Eigenvalues>

#include "models/data_reader.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {
namespace {

/// Z'Z / n, where the n = degrees of freedom rows of Z are standard normal.
Eigen::MatrixXd draw(const WishartSettings& settings) {
  require_setting("dimension of the Wishart draw", static_cast<double>(settings.dimension),
                  at_least(1));
  require_setting("degrees of freedom of the Wishart draw",
                  static_cast<double>(settings.degrees_of_freedom),
                  at_least(static_cast<double>(settings.dimension)));
  const auto columns = static_cast<Eigen::Index>(settings.dimension);
  const auto rows = static_cast<Eigen::Index>(settings.degrees_of_freedom);
  Eigen::MatrixXd transposed(columns, rows);
  Stream stream({.seed = settings.seed}, Purpose::test);
  stream.fill_normal({transposed.data(), static_cast<std::size_t>(transposed.size())});
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(columns, columns);
  matrix.selfadjointView<Eigen::Lower>().rankUpdate(transposed, 1 / static_cast<double>(rows));
  matrix.triangularView<Eigen::StrictlyUpper>() = matrix.transpose();
  return matrix;
}

}  // namespace

std::vector<double> wishart_draw(const WishartSettings& settings) {
  const Eigen::MatrixXd matrix = draw(settings);
  return {matrix.data(), matrix.data() + matrix.size()};
}

std::vector<double> wishart_eigenvalues(const WishartSettings& settings) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(draw(settings),
                                                              Eigen::EigenvaluesOnly);
  const auto& values = solver.eigenvalues();
  return {values.data(), values.data() + values.size()};
}

WishartSettings read_wishart(DataReader& data) {
  // Beyond this a dense covariance takes gigabytes, and minutes to factor.
  constexpr double most_dense_coordinates = 5000;
  WishartSettings settings;
  settings.dimension =
      data.integer("dimension", settings.dimension, between(1, most_dense_coordinates));
  settings.degrees_of_freedom =
      data.integer("degrees_of_freedom", settings.dimension,
                   between(static_cast<double>(settings.dimension), 4 * most_dense_coordinates));
  settings.seed = data.seed(settings.seed);
  return settings;
}

std::string wishart_help() {
  return "dimension           default 250, at most 5000\n"
         "degrees_of_freedom  default: the dimension; more give a milder covariance\n"
         "seed                of the Wishart draw, default 1";
}

}  // namespace rehmc
