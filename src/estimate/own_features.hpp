// Private to estimate/: the features of one coordinate in every fold, and their tails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stein_run.hpp"

namespace rehmc::stein {

/// The shape of a tail, estimated in two ways that may overrate it.
struct Shape {
  /// From the function itself. Powers of light tails look heavy.
  double direct = 0;
  /// j k(z) + k(u) for z^j u, as if the tails of z and u went together.
  double bound = 0;

  double least() const { return std::min(direct, bound); }
};

/// The own features of a scalar in every fold.
struct OwnFeatures {
  std::vector<Eigen::MatrixXd> of_folds;
  std::vector<std::vector<Shape>> shapes;  ///< of the columns of every fold
};

/// Thresholds have bounded fields, which fall as 1 / z: their tails are those of u.
inline std::vector<Shape> shapes_of(const Run& run, std::size_t fold, Index i,
                                    const CoordinateStates& states, std::size_t thresholds) {
  const double shape_z = run.shape_z[fold][i];
  const double shape_u = run.shape_u[fold][i];
  const CoordinateStates some = states.some(run.training_rows(fold));
  const double shape_g = std::max(0.0, shape_of(some.g));
  std::vector<Shape> shapes{{shape_u, shape_u}};
  for (Index field = 1; field < power_fields; ++field) {
    const double along = field <= highest_power ? shape_u : shape_g;
    shapes.push_back({shape_of(power_feature(some, field)),
                      static_cast<double>(power_of(field)) * shape_z + along});
  }
  shapes.resize(static_cast<std::size_t>(power_fields) + thresholds, shapes.front());
  return shapes;
}

/// The same powers with other thresholds.
template <class Thresholds>
OwnFeatures with_thresholds(const Run& run, Index i, const std::vector<CoordinateStates>& states,
                            const OwnFeatures& powers, Thresholds&& thresholds) {
  OwnFeatures own;
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    const std::vector<double> of_fold = thresholds(f);
    const auto count = to_index(of_fold.size());
    Eigen::MatrixXd& features =
        own.of_folds.emplace_back(to_index(run.table.draws()), power_fields + count);
    features.leftCols(power_fields) = powers.of_folds[f].leftCols(power_fields);
    features.rightCols(count) = threshold_features(run.table, run.frames[f], i, states[f], of_fold);
    own.shapes.push_back(powers.shapes[f]);
    own.shapes.back().resize(static_cast<std::size_t>(power_fields) + of_fold.size(),
                             own.shapes.back().front());
  }
  return own;
}

/// The own features of a coordinate, with thresholds as each fold has them.
template <class Thresholds>
OwnFeatures own_at(const Run& run, Index i, const std::vector<CoordinateStates>& states,
                   Thresholds&& thresholds) {
  OwnFeatures own;
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    Eigen::MatrixXd& features =
        own.of_folds.emplace_back(to_index(run.table.draws()), power_fields);
    for (Index field = 0; field < power_fields; ++field) {
      const Eigen::VectorXd feature = power_feature(states[f], field);
      features.col(field) = run.table.draw_means([&](Index s) { return feature[s]; });
    }
    own.shapes.push_back(shapes_of(run, f, i, states[f], 0));
  }
  return with_thresholds(run, i, states, own, thresholds);
}

}  // namespace rehmc::stein
