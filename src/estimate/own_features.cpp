// The features of one coordinate of one fold, and how heavy their tails are.
#include "own_features.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rehmc::stein {

namespace {

/// The tails of the features of powers.
std::vector<Shape> shapes_of(const Run& run, std::size_t fold, Index i,
                             const CoordinateStates& states) {
  const double shape_z = run.shape_z[fold][i];
  const double shape_u = run.shape_u[fold][i];
  const CoordinateStates some = states.some(run.training_rows(fold));
  const double shape_g = std::max(0.0, shape_of(some.g));
  std::vector<Shape> shapes{{shape_u, shape_u}};
  std::array<double, 2> of_products{};  // z u and z g
  for (Index field = 1; field < power_fields(run.highest_power(fold)); ++field) {
    const double along = is_along_c(field) ? shape_u : shape_g;
    const auto power = static_cast<double>(power_of(field));
    const double direct = shape_of(power_feature(some, field));
    double& of_product = of_products[is_along_c(field) ? 0 : 1];
    if (power_of(field) == 1) of_product = std::max(0.0, direct);
    shapes.push_back(
        {direct, std::min(power * shape_z + along, (power - 1) * shape_z + of_product)});
  }
  return shapes;
}

}  // namespace

OwnFeatures powers_of(const Run& run, std::size_t fold, Index i, const CoordinateStates& states) {
  Eigen::MatrixXd columns = power_features(run.table, states, run.highest_power(fold));
  const Index powers = columns.cols();
  return {std::move(columns), powers, shapes_of(run, fold, i, states), {}};
}

OwnFeatures with_thresholds(const Run& run, std::size_t fold, Index i,
                            const CoordinateStates& states, const OwnFeatures& powers,
                            const std::vector<double>& thresholds) {
  const auto draws = to_index(run.table.draws());
  OwnFeatures own;
  own.powers = powers.powers;
  own.columns.resize(draws, own.powers + to_index(thresholds.size()));
  own.columns.leftCols(own.powers) = powers.columns;
  own.indicators.resize(draws, to_index(thresholds.size()));
  for (std::size_t t = 0; t < thresholds.size(); ++t) {
    const Threshold at(run.table, run.frames[fold], i, states, thresholds[t]);
    own.columns.col(own.powers + to_index(t)) = at.means({0, 1}, 0, draws);
    own.indicators.col(to_index(t)) = at.means({1, 0}, 0, draws);
  }
  // Their fields are bounded and fall as 1 / z: their tails are those of u, as for the field 1.
  own.shapes = powers.shapes;
  own.shapes.resize(static_cast<std::size_t>(own.columns.cols()), powers.shapes.front());
  return own;
}

}  // namespace rehmc::stein
