// The shapes of tails, from a generalised Pareto law.
#include "tails.hpp"

#include <cstddef>

#include "rehmc/estimate/pareto.hpp"

namespace rehmc::stein {

double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
  const Eigen::VectorXd sizes = values.cwiseAbs();
  return tail_shape({sizes.data(), static_cast<std::size_t>(sizes.size())});
}

bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series) {
  return !series.allFinite() || shape_of((series.array() - series.mean()).matrix()) > heaviest_tail;
}

}  // namespace rehmc::stein
