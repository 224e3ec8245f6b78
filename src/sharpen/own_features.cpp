// The features of one coordinate of one fold, and how heavy their tails are.
#include "own_features.hpp"

#include <algorithm>

#include "tails.hpp"

namespace rehmc::stein {

namespace {

/// The tails of the features of powers.
std::vector<Shape> shapes_of(const Run& run, std::size_t fold, Index i,
                             const CoordinateStates& states) {
  const double shape_z = run.shape_z[fold][i];
  const double shape_u = run.shape_u[fold][i];
  const CoordinateStates some = states.some(run.training_rows(fold));
  const double shape_g = std::max(0.0, shape_of(some.g));
  std::vector<Shape> shapes{{shape_u, shape_u}};  // of the constant field
  for (Index field = constant_field + 1; field < run.powers(fold); ++field) {
    const double along = is_along_c(field) ? shape_u : shape_g;
    const auto power = static_cast<double>(power_of(field));
    const double direct = shape_of(power_feature(some, field));
    const auto product = static_cast<std::size_t>(is_along_c(field) ? field_z_u : field_z_g);
    const double of_product = std::max(0.0, power == 1 ? direct : shapes[product].direct);
    shapes.push_back(
        {direct, std::min(power * shape_z + along, (power - 1) * shape_z + of_product)});
  }
  return shapes;
}

}  // namespace

OwnFeatures powers_of(const Run& run, std::size_t fold, Index i, const CoordinateStates& states) {
  const Index count = run.powers(fold);
  return {{count}, power_features(run.table, states, count), shapes_of(run, fold, i, states), {}};
}

OwnFeatures with_thresholds(const Run& run, std::size_t fold, Index i,
                            const CoordinateStates& states, const OwnFeatures& powers,
                            const std::vector<double>& thresholds) {
  const auto draws = to_index(run.table.draws());
  OwnFeatures own;
  own.layout = {powers.layout.powers, to_index(thresholds.size())};
  own.columns.resize(draws, own.layout.count());
  own.layout.of_powers(0).of(own.columns) = powers.columns;
  own.indicators = run.table.shares_below(run.table.positions.col(i), thresholds);
  for (Index t = 0; t < own.layout.thresholds; ++t) {
    const Threshold at(run.table, run.frames[fold], i, states,
                       thresholds[static_cast<std::size_t>(t)]);
    own.columns.col(own.layout.of_thresholds(0)[t]) = at.means({0, 1}, 0, draws);
    own.indicators.col(t) += at.lower() * (1 - run.table.masses.array()).matrix();
  }
  // Their fields are bounded and fall as 1 / z: their tails are those of u, as for the field 1.
  own.shapes = powers.shapes;
  own.shapes.resize(static_cast<std::size_t>(own.columns.cols()),
                    powers.shapes[static_cast<std::size_t>(constant_field)]);
  return own;
}

}  // namespace rehmc::stein
