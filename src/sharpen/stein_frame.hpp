// Private to sharpen/: the coordinates in which Stein features are taken.
#pragma once

#include <Eigen/Core>

namespace rehmc {

/// Centre m, scale s and matrix C: in z = (x - m) / s a Gaussian with covariance C would have
/// (C g) / s = -z. C is dense, or diagonal plus low rank.
struct SteinFrame {
  Eigen::VectorXd centre;
  Eigen::VectorXd scale;
  /// If C is dense, C with its rows divided by the scale, so that matrix * g is -z for a Gaussian.
  Eigen::MatrixXd matrix;
  /// Else, C = D + A B' with the diagonal matrix D: D / s, A / s and B.
  Eigen::VectorXd diagonal;
  Eigen::MatrixXd low_rank_left;
  Eigen::MatrixXd low_rank_right;

  Eigen::Index dimension() const { return scale.size(); }
  bool dense() const { return matrix.size() > 0; }
  /// The part that products() of the same gradients have in common: B' g; no columns if C is dense.
  Eigen::MatrixXd shared_products(const Eigen::Ref<const Eigen::MatrixXd>& gradients) const;
  /// (C g) / s for every row g of gradients: `count` coordinates, beginning with `first`.
  Eigen::MatrixXd products(const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                           const Eigen::MatrixXd& shared_products, Eigen::Index first,
                           Eigen::Index count) const;
  /// The same for all coordinates.
  Eigen::MatrixXd products(const Eigen::Ref<const Eigen::MatrixXd>& gradients) const;
  /// C_ki / (s_k s_i)
  double correlation(Eigen::Index k, Eigen::Index i) const;

  /// From weighted states, one row each of positions and gradients, that come from `draws` draws.
  /// Dense if there are enough draws. Not finite if the states are degenerate.
  static SteinFrame fit(const Eigen::Ref<const Eigen::MatrixXd>& positions,
                        const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                        const Eigen::Ref<const Eigen::VectorXd>& weights, double draws);
};

}  // namespace rehmc
