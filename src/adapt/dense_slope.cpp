// Least squares of positions on gradients.
#include "dense_slope.hpp"

#include <Eigen/Cholesky>

#include "dense_estimate.hpp"

namespace rehmc {

std::shared_ptr<const Metric> dense_slope(const CentredStates& states) {
  const auto moments = UnitMoments::of(states);
  if (!moments) return nullptr;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(moments->gg);
  if (cholesky.info() != Eigen::Success) return nullptr;
  return moments->metric(-cholesky.solve(moments->gx));
}

}  // namespace rehmc
