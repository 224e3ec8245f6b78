// The frame of Stein features where draws are too few for a dense matrix.
#include "src/sharpen/stein_frame.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

#include "rehmc/core/random.hpp"

namespace rehmc::stein_frame_test {
namespace {

constexpr Eigen::Index d = 400;
constexpr Eigen::Index states = 600;

Eigen::MatrixXd normal_matrix(Eigen::Index rows, Eigen::Index columns, Stream& stream) {
  Eigen::MatrixXd matrix(rows, columns);
  stream.fill_normal({matrix.data(), static_cast<std::size_t>(matrix.size())});
  return matrix;
}

/// States of a normal distribution with the mean 2, one per row.
struct States {
  Eigen::MatrixXd positions;
  Eigen::MatrixXd gradients;
};

/// Coordinates of very different scales that share few factors.
class FactorNormal {
 public:
  explicit FactorNormal(Eigen::Index factors, Stream& stream)
      : scale_(normal_matrix(d, 1, stream).array().exp()),
        loadings_(scale_.asDiagonal() * normal_matrix(d, factors, stream)) {
    Eigen::MatrixXd covariance = loadings_ * loadings_.transpose();
    covariance.diagonal() += scale_.cwiseAbs2();
    precision_.compute(covariance);
  }

  States draw(Eigen::Index count, Stream& stream) const {
    const Eigen::MatrixXd offset =
        normal_matrix(count, d, stream) * scale_.asDiagonal() +
        normal_matrix(count, loadings_.cols(), stream) * loadings_.transpose();
    return {offset.array() + 2, -precision_.solve(offset.transpose()).transpose()};
  }

 private:
  Eigen::VectorXd scale_;
  Eigen::MatrixXd loadings_;
  Eigen::LLT<Eigen::MatrixXd> precision_;
};

SteinFrame fit(const States& given) {
  return SteinFrame::fit(given.positions, given.gradients, Eigen::VectorXd::Ones(states), states);
}

/// The share of the variance of coordinates that (C g) does not explain, at fresh states.
double left_by(const SteinFrame& frame, const States& fresh) {
  const Eigen::MatrixXd z = (fresh.positions.rowwise() - frame.centre.transpose()) *
                            frame.scale.cwiseInverse().asDiagonal();
  return (z + frame.products(fresh.gradients)).squaredNorm() / z.squaredNorm();
}

TEST(SteinFrame, FewDirectionsExplainCoordinatesThatShareFactors) {
  Stream stream({.seed = 1}, Purpose::test);
  const FactorNormal normal(3, stream);
  const SteinFrame frame = fit(normal.draw(states, stream));
  EXPECT_FALSE(frame.dense());
  const States fresh = normal.draw(100, stream);
  EXPECT_LT(left_by(frame, fresh), 1e-4);

  SteinFrame without = frame;
  without.low_rank_left.setZero();
  EXPECT_GT(left_by(without, fresh), 0.5);
}

TEST(SteinFrame, IsDiagonalWhereCoordinatesDoNotDependOnEachOther) {
  Stream stream({.seed = 2}, Purpose::test);
  const FactorNormal normal(0, stream);
  const SteinFrame frame = fit(normal.draw(states, stream));
  EXPECT_EQ(frame.low_rank_left.cols(), 0);
  EXPECT_LT(left_by(frame, normal.draw(10, stream)), 1e-12);
}

TEST(SteinFrame, ProductsAndCorrelationsAreOfTheSameMatrix) {
  Stream stream({.seed = 3}, Purpose::test);
  const FactorNormal normal(2, stream);
  const States given = normal.draw(states, stream);
  const SteinFrame frame = fit(given);
  const Eigen::MatrixXd gradients = given.gradients.topRows(3);
  const Eigen::MatrixXd all = frame.products(gradients);
  const Eigen::MatrixXd some = frame.products(gradients, frame.shared_products(gradients), 10, 5);
  EXPECT_LT((some - all.middleCols(10, 5)).norm(), 1e-12 * all.norm());
  for (const Eigen::Index i : {0, 7, 399}) {
    double product = 0;
    for (Eigen::Index k = 0; k < d; ++k) {
      product += frame.correlation(i, k) * frame.scale[k] * gradients(0, k);
      EXPECT_NEAR(frame.correlation(i, k), frame.correlation(k, i), 1e-10);
    }
    EXPECT_NEAR(product, all(0, i), 1e-9 * all.norm());
  }
}

}  // namespace
}  // namespace rehmc::stein_frame_test
