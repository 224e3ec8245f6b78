// Fits the frame by the slope of positions on gradients, which is exact for every Gaussian.
#include "stein_frame.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "rehmc/core/low_rank_fit.hpp"
#include "rehmc/core/products.hpp"

namespace rehmc {

namespace {

/// Beyond this dimension a matrix costs more than it gains.
constexpr Eigen::Index most_dense = 1000;
/// Draws per coordinate from which a dense matrix gains more than its noise costs.
constexpr double draws_per_coordinate = 2;

bool positive_definite(const Eigen::MatrixXd& c) {
  if (!(c.diagonal().minCoeff() > 0) || !c.allFinite()) return false;
  const Eigen::VectorXd inverse_scale = c.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd unit = inverse_scale.asDiagonal() * c * inverse_scale.asDiagonal();
  // A margin, so that a matrix that is singular up to rounding does not pass.
  Eigen::MatrixXd shifted = unit;
  shifted.diagonal().array() -= 1e-12;
  return Eigen::LLT<Eigen::MatrixXd>(shifted).info() == Eigen::Success;
}

/// The inverse of E[g g'] (by Stein's identity, the mean Hessian), with a ridge that is absolute in
/// coordinates of unit sd: a ridge relative to the diagonal fails for badly scaled models.
Eigen::MatrixXd inverse_of_squares(const Eigen::MatrixXd& gradient_covariance,
                                   const Eigen::VectorXd& sd) {
  Eigen::MatrixXd scaled = sd.asDiagonal() * gradient_covariance * sd.asDiagonal();
  scaled.diagonal().array() += 1e-4;
  const auto d = scaled.rows();
  const Eigen::MatrixXd inverse =
      Eigen::LLT<Eigen::MatrixXd>(scaled).solve(Eigen::MatrixXd::Identity(d, d));
  return sd.asDiagonal() * inverse * sd.asDiagonal();
}

SteinFrame from_low_rank(const LowRankFit& fit, const Eigen::RowVectorXd& x_mean,
                         const Eigen::RowVectorXd& g_mean) {
  const auto rank = static_cast<Eigen::Index>(fit.stretch.size());
  // Copies: the order of Eigen's sums depends on how memory is aligned.
  const Eigen::VectorXd scale = Eigen::Map<const Eigen::VectorXd>(fit.scale.data(), x_mean.size());
  const Eigen::VectorXd stretch = Eigen::Map<const Eigen::VectorXd>(fit.stretch.data(), rank);
  const Eigen::MatrixXd directions =
      Eigen::Map<const Eigen::MatrixXd>(fit.directions.data(), x_mean.size(), rank);
  const Eigen::VectorXd gain = stretch.array() - 1;
  const Eigen::VectorXd along = directions.cwiseAbs2() * gain;
  SteinFrame frame;
  frame.scale = scale.array() * (1 + along.array()).sqrt();
  frame.diagonal = scale.cwiseAbs2().cwiseQuotient(frame.scale);
  frame.low_rank_right = scale.asDiagonal() * directions;
  frame.low_rank_left =
      frame.scale.cwiseInverse().asDiagonal() * frame.low_rank_right * gain.asDiagonal();
  const Eigen::RowVectorXd shift = frame.products(g_mean);
  frame.centre = x_mean.transpose() + frame.scale.cwiseProduct(shift.transpose());
  return frame;
}

}  // namespace

Eigen::MatrixXd SteinFrame::shared_products(
    const Eigen::Ref<const Eigen::MatrixXd>& gradients) const {
  if (dense()) return {};
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(gradients.rows(), low_rank_right.cols());
  add_product(1, by_columns(gradients), by_columns(low_rank_right), into(result));
  return result;
}

Eigen::MatrixXd SteinFrame::products(const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                                     const Eigen::MatrixXd& shared_products, Eigen::Index first,
                                     Eigen::Index count) const {
  if (dense()) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(gradients.rows(), count);
    add_product(1, by_columns(gradients), by_columns(matrix.middleRows(first, count)).transposed(),
                into(result));
    return result;
  }
  Eigen::MatrixXd result =
      gradients.middleCols(first, count) * diagonal.segment(first, count).asDiagonal();
  if (low_rank_left.cols() > 0) {
    add_product(1, by_columns(shared_products),
                by_columns(low_rank_left.middleRows(first, count)).transposed(), into(result));
  }
  return result;
}

Eigen::MatrixXd SteinFrame::products(const Eigen::Ref<const Eigen::MatrixXd>& gradients) const {
  return products(gradients, shared_products(gradients), 0, dimension());
}

double SteinFrame::correlation(Eigen::Index k, Eigen::Index i) const {
  if (k == i) return 1;
  if (dense()) return matrix(k, i) / scale[i];
  return low_rank_left.row(k).dot(low_rank_right.row(i)) / scale[i];
}

SteinFrame SteinFrame::fit(const Eigen::Ref<const Eigen::MatrixXd>& positions,
                           const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                           const Eigen::Ref<const Eigen::VectorXd>& weights, double draws) {
  const auto d = positions.cols();
  const Eigen::VectorXd w = weights / weights.sum();
  const Eigen::RowVectorXd x_mean = w.transpose() * positions;
  const Eigen::RowVectorXd g_mean = w.transpose() * gradients;
  const Eigen::VectorXd root = w.cwiseSqrt();

  Eigen::MatrixXd x = positions.rowwise() - x_mean;
  Eigen::MatrixXd g = gradients.rowwise() - g_mean;
  x.array().colwise() *= root.array();
  g.array().colwise() *= root.array();
  if (d > most_dense || draws < draws_per_coordinate * static_cast<double>(d)) {
    const auto numbers = static_cast<std::size_t>(x.size());
    const auto fit = LowRankFit::of(static_cast<std::size_t>(x.cols()), {x.data(), numbers},
                                    {g.data(), numbers});
    return from_low_rank(fit, x_mean, g_mean);
  }
  const Eigen::VectorXd x_sd = x.colwise().norm();
  const Eigen::VectorXd g_sd = g.colwise().norm();
  // In units of their sds, so that the scales of the model do not affect the decomposition.
  x.array().rowwise() /= x_sd.transpose().array();
  g.array().rowwise() /= g_sd.transpose().array();
  Eigen::MatrixXd gg = Eigen::MatrixXd::Zero(d, d);
  add_product(1, by_columns(g).transposed(), by_columns(g), into(gg), ProductPart::lower);
  Eigen::MatrixXd gx = Eigen::MatrixXd::Zero(d, d);
  add_product(1, by_columns(g).transposed(), by_columns(x), into(gx));
  const Eigen::MatrixXd full = gg.selfadjointView<Eigen::Lower>();
  Eigen::MatrixXd ridged = full;
  ridged.diagonal().array() += 1e-12;
  const Eigen::MatrixXd slope = Eigen::LLT<Eigen::MatrixXd>(ridged).solve(gx);
  const Eigen::MatrixXd raw = g_sd.cwiseInverse().asDiagonal() * slope * x_sd.asDiagonal();
  Eigen::MatrixXd c = -0.5 * (raw + raw.transpose());
  if (!positive_definite(c)) {
    c = inverse_of_squares(g_sd.asDiagonal() * full * g_sd.asDiagonal(), x_sd);
  }
  SteinFrame frame;
  frame.scale = c.diagonal().cwiseSqrt();
  frame.centre = x_mean.transpose() + c * g_mean.transpose();
  frame.matrix = frame.scale.cwiseInverse().asDiagonal() * c;
  return frame;
}

}  // namespace rehmc
