// Moments of states and gradients in units of each coordinate.
#include "dense_estimate.hpp"

#include "diagonal_ratio.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/products.hpp"

namespace rehmc {

namespace {

/// A symmetric matrix must have its rank from more states than it has rows, with a margin.
constexpr Eigen::Index states_per_coordinate = 2;
constexpr Eigen::Index more_states = 10;

Eigen::MatrixXd squares(const Eigen::MatrixXd& rows, double divisor, double ridge) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
  add_product(1 / divisor, by_columns(rows).transposed(), by_columns(rows), into(result),
              ProductPart::lower);
  result.diagonal().array() += ridge;
  return result.selfadjointView<Eigen::Lower>();
}

}  // namespace

std::optional<UnitMoments> UnitMoments::of(const CentredStates& states, double ridge) {
  if (states.x.rows() < states_per_coordinate * states.x.cols() + more_states) return std::nullopt;
  UnitMoments moments;
  moments.unit = variance_ratio(states).cwiseSqrt();
  if (!moments.unit.allFinite() || !(moments.unit.minCoeff() > 0)) return std::nullopt;
  const Eigen::MatrixXd x = states.x * moments.unit.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd g = states.g * moments.unit.asDiagonal();
  const double size = x.squaredNorm() / static_cast<double>(x.cols());
  moments.xx = squares(x, size, ridge);
  moments.gg = squares(g, size, ridge);
  moments.gx.setZero(x.cols(), x.cols());
  add_product(1 / size, by_columns(g).transposed(), by_columns(x), into(moments.gx));
  if (!moments.xx.allFinite() || !moments.gg.allFinite()) return std::nullopt;
  return moments;
}

std::shared_ptr<const Metric> UnitMoments::metric(const Eigen::MatrixXd& inverse_mass) const {
  const Eigen::MatrixXd half = unit.asDiagonal() * inverse_mass * unit.asDiagonal();
  const Eigen::MatrixXd full = 0.5 * (half + half.transpose());
  try {
    return make_dense_metric(static_cast<std::size_t>(full.rows()),
                             {full.data(), static_cast<std::size_t>(full.size())});
  } catch (const ConfigError&) {
    return nullptr;
  }
}

}  // namespace rehmc
