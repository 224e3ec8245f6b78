// Private to estimate/: the coordinates in which Stein features are taken.
#pragma once

#include <Eigen/Core>

namespace rehmc {

/// Centre m, scale s and matrix C: in z = (x - m) / s a Gaussian with covariance C would have
/// (C g) / s = -z.
struct SteinFrame {
  Eigen::VectorXd centre;
  Eigen::VectorXd scale;
  /// C with its rows divided by the scale, so that matrix * g is -z for a Gaussian.
  Eigen::MatrixXd matrix;
  /// Instead of the matrix, where it would be too large to fit or to hold.
  bool diagonal = false;

  Eigen::Index dimension() const { return centre.size(); }
  /// (C g) / s for every row g of gradients: the coordinates from `first`, `count` of them.
  Eigen::MatrixXd products(const Eigen::Ref<const Eigen::MatrixXd>& gradients, Eigen::Index first,
                           Eigen::Index count) const;
  /// C_ki / (s_k s_i)
  double correlation(Eigen::Index k, Eigen::Index i) const;

  /// Weighted states in columns of positions and gradients, one row each, from so many draws.
  /// Dense if the draws are many enough for it. Not finite where states are degenerate.
  static SteinFrame fit(const Eigen::Ref<const Eigen::MatrixXd>& positions,
                        const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                        const Eigen::Ref<const Eigen::VectorXd>& weights, double draws);
};

}  // namespace rehmc
