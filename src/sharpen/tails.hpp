// Private to sharpen/: how heavy the tails of series and features are.
#pragma once

#include <Eigen/Core>

namespace rehmc::stein {

/// A feature with a heavier tail has no finite variance, as far as one can tell.
inline constexpr double heaviest_tail = 0.5;
/// The shape of the tail of |values|.
double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values);
/// Whether a series has no finite variance, as far as one can tell.
bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series);

}  // namespace rehmc::stein
