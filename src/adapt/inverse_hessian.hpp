// Private to adapt/: what a climb has learned about curvature, as L-BFGS stores it.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <deque>
#include <memory>

#include "rehmc/core/low_rank.hpp"

namespace rehmc {

/// An approximation of the inverse of minus the Hessian, from pairs of steps and changes of the
/// gradient; a positive definite one.
class InverseHessian {
 public:
  explicit InverseHessian(const Eigen::VectorXd& gradient);

  /// Learns from a step and from the gradient before it less the one after it, unless the density
  /// is not concave along the step.
  void learn(const Eigen::VectorXd& step, const Eigen::VectorXd& change);
  /// Forgets everything.
  void reset(const Eigen::VectorXd& gradient);
  void reset(double variance, Eigen::Index dimension);

  Eigen::VectorXd times(const Eigen::VectorXd& vector) const;
  /// The same matrix as an operator. ConfigError if it is not positive definite up to rounding.
  DiagonalPlusLowRank as_operator() const;

 private:
  struct Pair {
    Eigen::VectorXd step;
    Eigen::VectorXd change;
    double curvature;  ///< step . change
  };

  std::size_t most_pairs() const;
  void rescale(const Pair& pair);

  Eigen::VectorXd diagonal_;  ///< where no pair says otherwise
  /// Oldest first. Points of a path have most of them in common.
  std::deque<std::shared_ptr<const Pair>> pairs_;
};

}  // namespace rehmc
