// The shapes of tails, from a generalised Pareto law.
#include "tails.hpp"

#include <cstddef>

#include "pareto.hpp"

namespace rehmc::stein {

double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
  const Eigen::VectorXd sizes = values.cwiseAbs();
  return tail_shape({sizes.data(), static_cast<std::size_t>(sizes.size())});
}

double shape_about_mean(const Eigen::Ref<const Eigen::VectorXd>& values) {
  return shape_of((values.array() - values.mean()).matrix());
}

bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series) {
  return !series.allFinite() || shape_about_mean(series) > heaviest_tail;
}

}  // namespace rehmc::stein
