// Ratios of sds.
#include "diagonal_ratio.hpp"

#include <span>

namespace rehmc {

Eigen::VectorXd variance_ratio(const CentredStates& states) {
  return states.x.colwise().norm().transpose().cwiseQuotient(states.g.colwise().norm().transpose());
}

std::shared_ptr<const Metric> diagonal_ratio(const CentredStates& states) {
  const Eigen::VectorXd ratio = variance_ratio(states);
  if (!ratio.allFinite() || !(ratio.minCoeff() > 0)) return nullptr;
  return make_diagonal_metric({ratio.data(), static_cast<std::size_t>(ratio.size())});
}

}  // namespace rehmc
