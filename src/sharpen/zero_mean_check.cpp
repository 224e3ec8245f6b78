// Scores averages of features and sets the limit for the worst of them.
#include "zero_mean_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "rehmc/core/numerics.hpp"
#include "tails.hpp"

namespace rehmc::stein {

void ZeroMeanCheck::add(const Eigen::Ref<const Eigen::VectorXd>& series, Index coordinate) {
  const double z = run_.errors.score(series);
  if (std::isnan(z)) return;
  ++result_.features;
  if (!(z <= result_.worst)) {
    result_.worst = z;
    result_.coordinate = static_cast<std::size_t>(coordinate);
  }
}

void ZeroMeanCheck::add_coordinate(Index i, const std::vector<CoordinateStates>& states,
                                   const std::vector<OwnFeatures>& powers) {
  for (const Index field : {constant_field, field_z_u}) {
    const bool heavy = std::any_of(powers.begin(), powers.end(), [&](const OwnFeatures& own) {
      return own.shapes[static_cast<std::size_t>(field)].least() > heaviest_tail;
    });
    if (heavy) continue;
    add(run_.across_folds([&](std::size_t f) {
      return powers[f].columns.col(powers[f].layout.of_powers(0)[field]);
    }),
        i);
    // The field of a threshold has the tail of the constant field.
    if (field == constant_field) add_thresholds(i, states);
  }
}

void ZeroMeanCheck::add_thresholds(Index i, const std::vector<CoordinateStates>& states) {
  // One sd on each side of the centre: together they show errors in the middle, separately errors
  // on one side.
  for (const double side : {-1.0, 1.0}) {
    Eigen::VectorXd series(to_index(run_.table.draws()));
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      const Fold& fold = run_.folds[f];
      const SteinFrame& frame = run_.frames[f];
      const Threshold at(run_.table, frame, i, states[f], frame.centre[i] + side * frame.scale[i]);
      fold.of(series) = at.means({0, 1}, fold.begin, fold.end);
    }
    add(series, i);
  }
}

void ZeroMeanCheck::add_blocks() {
  for (std::size_t b = 0; b < run_.block_first.size(); ++b) {
    const Eigen::VectorXd series =
        run_.across_folds([&](std::size_t f) { return run_.blocks[f].col(to_index(b)); });
    if (!too_heavy(series)) add(series, run_.block_first[b]);
  }
}

SteinCheck ZeroMeanCheck::result() const {
  SteinCheck check = result_;
  const auto count = static_cast<double>(std::max<std::size_t>(1, check.features));
  check.limit = -normal_quantile(SteinCheck::false_alarm_rate / 2 / count);
  check.refusal_limit = -normal_quantile(SteinCheck::false_refusal_rate / 2 / count);
  return check;
}

}  // namespace rehmc::stein
