// Variances, shrunk by the number of draws.
#include "diagonal_variance.hpp"

#include <span>

namespace rehmc {

std::shared_ptr<const Metric> diagonal_variance(const CentredStates& states) {
  const double n = states.draws;
  if (n < 2) return nullptr;
  const Eigen::VectorXd variance =
      (n / (n + 5)) * states.x.colwise().squaredNorm().transpose().array() + 1e-3 * 5 / (n + 5);
  if (!variance.allFinite()) return nullptr;
  return make_diagonal_metric({variance.data(), static_cast<std::size_t>(variance.size())});
}

}  // namespace rehmc
