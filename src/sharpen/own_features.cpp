// The features of one coordinate of one fold, and how heavy their tails are.
#include "own_features.hpp"

#include <algorithm>

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
  for (Index field = 1; field < run.powers(fold); ++field) {
    const double along = is_along_c(field) ? shape_u : shape_g;
    const auto power = static_cast<double>(power_of(field));
    const double direct = shape_of(power_feature(some, field));
    // That of z u or z g, the first two fields.
    const double of_product =
        std::max(0.0, power == 1 ? direct : shapes[is_along_c(field) ? 1 : 2].direct);
    shapes.push_back(
        {direct, std::min(power * shape_z + along, (power - 1) * shape_z + of_product)});
  }
  return shapes;
}

}  // namespace

OwnFeatures powers_of(const Run& run, std::size_t fold, Index i, const CoordinateStates& states) {
  return {power_features(run.table, states, run.powers(fold)), shapes_of(run, fold, i, states), {}};
}

OwnFeatures with_thresholds(const Run& run, std::size_t fold, Index i,
                            const CoordinateStates& states, const OwnFeatures& powers,
                            const std::vector<double>& thresholds) {
  const auto draws = to_index(run.table.draws());
  OwnFeatures own;
  const Index before = powers.columns.cols();
  own.columns.resize(draws, before + to_index(thresholds.size()));
  own.columns.leftCols(before) = powers.columns;
  own.indicators.resize(draws, to_index(thresholds.size()));
  for (std::size_t t = 0; t < thresholds.size(); ++t) {
    const Threshold at(run.table, run.frames[fold], i, states, thresholds[t]);
    own.columns.col(before + to_index(t)) = at.means({0, 1}, 0, draws);
    own.indicators.col(to_index(t)) = at.means({1, 0}, 0, draws);
  }
  // Their fields are bounded and fall as 1 / z: their tails are those of u, as for the field 1.
  own.shapes = powers.shapes;
  own.shapes.resize(static_cast<std::size_t>(own.columns.cols()), powers.shapes.front());
  return own;
}

}  // namespace rehmc::stein
