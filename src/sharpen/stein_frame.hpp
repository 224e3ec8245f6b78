// Private to sharpen/: the coordinates in which Stein features are taken.
#pragma once

#include <Eigen/Core>

namespace rehmc {

/// Centre m, scale s and matrix C: in z = (x - m) / s a Gaussian with covariance C would have
/// (C g) / s = -z. C is dense, or a diagonal matrix with something of low rank added to it.
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
  /// What products() of the same gradients share: B' g, without columns if C is dense.
  Eigen::MatrixXd shared_products(const Eigen::Ref<const Eigen::MatrixXd>& gradients) const;
  /// (C g) / s for every row g of gradients: the coordinates from `first`, `count` of them.
  Eigen::MatrixXd products(const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                           const Eigen::MatrixXd& shared_products, Eigen::Index first,
                           Eigen::Index count) const;
  /// The same for all coordinates.
  Eigen::MatrixXd products(const Eigen::Ref<const Eigen::MatrixXd>& gradients) const;
  /// C_ki / (s_k s_i)
  double correlation(Eigen::Index k, Eigen::Index i) const;

  /// Weighted states in columns of positions and gradients, one row each, from so many draws.
  /// Dense if the draws are many enough for it. Not finite where states are degenerate.
  static SteinFrame fit(const Eigen::Ref<const Eigen::MatrixXd>& positions,
                        const Eigen::Ref<const Eigen::MatrixXd>& gradients,
                        const Eigen::Ref<const Eigen::VectorXd>& weights, double draws);
};

/// C = S (I + U (Lambda - I) U') S, exact for a Gaussian whose covariance is of this form.
struct LowRankFit {
  Eigen::VectorXd scale;       ///< S
  Eigen::MatrixXd directions;  ///< U, of orthonormal columns; none where C is better diagonal
  Eigen::VectorXd stretch;     ///< Lambda
  /// By least squares of positions on gradients, both centred, with rows times the roots of weights
  /// that sum to 1.
  static LowRankFit of(const Eigen::MatrixXd& positions, const Eigen::MatrixXd& gradients);
};

}  // namespace rehmc
