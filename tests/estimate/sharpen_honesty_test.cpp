// Control variates of independent draws: honest if cross-fitted, and caught if not.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/log_exponential.hpp"
#include "rehmc/core/random.hpp"
#include "src/estimate/cross_fit.hpp"
#include "src/estimate/stein_frame.hpp"
#include "tests/estimate/honest.hpp"

namespace rehmc::testing {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t replicates = 400;
/// Of every verdict in this file.
constexpr double false_alarm_rate = 1e-6;

/// Exact, independent draws of the skewed target, with gradients.
struct Draws {
  MatrixXd x;
  MatrixXd g;

  Draws(Index count, Index dimension, std::uint64_t replicate)
      : x(count, dimension), g(count, dimension) {
    const LogExponential model(static_cast<std::size_t>(dimension));
    Stream numbers(Address{11, 0, replicate}, Purpose::test);
    std::vector<double> position(static_cast<std::size_t>(dimension));
    std::vector<double> gradient(position.size());
    for (Index n = 0; n < count; ++n) {
      model.sample(numbers, position);
      model(position, gradient);
      for (Index i = 0; i < dimension; ++i) {
        x(n, i) = position[static_cast<std::size_t>(i)];
        g(n, i) = gradient[static_cast<std::size_t>(i)];
      }
    }
  }
};

SteinFrame frame_of(const MatrixXd& x, const MatrixXd& g) {
  return SteinFrame::fit(x, g, VectorXd::Ones(x.rows()), 1e9);
}

MatrixXd outside(const MatrixXd& all, const Fold& fold) {
  MatrixXd rest(all.rows() - (fold.end - fold.begin), all.cols());
  rest << all.topRows(fold.begin), all.bottomRows(all.rows() - fold.end);
  return rest;
}

/// Features of the draws in a frame.
using Features = std::function<MatrixXd(const Draws&, const SteinFrame&)>;

/// Those of the fields 1 and z of the first coordinate.
MatrixXd smooth(const Draws& draws, const SteinFrame& frame) {
  const VectorXd u = draws.g * frame.matrix.row(0).transpose();
  const VectorXd z = (draws.x.col(0).array() - frame.centre[0]) / frame.scale[0];
  MatrixXd features(u.size(), 2);
  features << u, (z.array() * u.array() + 1).matrix();
  return features;
}

/// The field 1 cut off at |z| > 1, as if its divergence were 0 there: a jump.
MatrixXd discontinuous(const Draws& draws, const SteinFrame& frame) {
  MatrixXd features = smooth(draws, frame);
  for (Index n = 0; n < features.rows(); ++n) {
    const double z = (draws.x(n, 0) - frame.centre[0]) / frame.scale[0];
    if (std::abs(z) > 1) features.row(n).setZero();
  }
  return features;
}

/// The gradients of all coordinates.
MatrixXd linear(const Draws& draws, const SteinFrame& frame) {
  return draws.g * frame.matrix.transpose();
}

enum class Fitted { on_other_draws, on_the_same_draws };

/// The mean of the first coordinate less the truth, and its error bar.
struct Deviation {
  double error;
  double mcse;
};

Deviation estimate(const Draws& draws, const Features& features, Fitted coefficients,
                   Fitted frames) {
  constexpr Index folds = 4;
  const Index count = draws.x.rows();
  VectorXd left(count);
  for (Index f = 0; f < folds; ++f) {
    const Fold fold{f * count / folds, (f + 1) * count / folds};
    const SteinFrame frame = frames == Fitted::on_the_same_draws
                                 ? frame_of(draws.x, draws.g)
                                 : frame_of(outside(draws.x, fold), outside(draws.g, fold));
    const MatrixXd columns = features(draws, frame);
    MatrixXd table(count, columns.cols() + 1);
    table << columns, draws.x.col(0);
    std::vector<Index> all(static_cast<std::size_t>(columns.cols()));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<Index>(k);
    // A fold of no draws is trained on all of them.
    const Fold unseen = coefficients == Fitted::on_the_same_draws ? Fold{0, 0} : fold;
    const CrossFit regression(table, 1, unseen);
    left.segment(fold.begin, fold.end - fold.begin) =
        regression.residuals(regression.fit(all, {0, 1}))
            .col(0)
            .segment(fold.begin, fold.end - fold.begin);
  }
  const double variance =
      (left.array() - left.mean()).square().sum() / static_cast<double>(count - 1);
  const double truth = LogExponential(1).mean(0);
  return {left.mean() - truth, std::sqrt(variance / static_cast<double>(count))};
}

Honesty honesty(Index count, Index dimension, const Features& features, Fitted coefficients,
                Fitted frames) {
  Honesty all;
  for (std::size_t r = 0; r < replicates; ++r) {
    const Deviation deviation =
        estimate(Draws(count, dimension, r), features, coefficients, frames);
    all.add(deviation.error, deviation.mcse);
  }
  return all;
}

TEST(SharpenHonesty, CrossFittedSmoothFieldsAreHonest) {
  EXPECT_EQ(honesty(400, 2, smooth, Fitted::on_other_draws, Fitted::on_other_draws)
                .complaint(false_alarm_rate),
            "");
  EXPECT_EQ(honesty(400, 10, linear, Fitted::on_other_draws, Fitted::on_other_draws)
                .complaint(false_alarm_rate),
            "");
}

TEST(SharpenHonesty, ADiscontinuousFieldIsCaught) {
  EXPECT_NE(honesty(400, 2, discontinuous, Fitted::on_other_draws, Fitted::on_other_draws)
                .complaint(false_alarm_rate),
            "");
}

TEST(SharpenHonesty, CoefficientsOfTheSameDrawsAreCaughtWhereFeaturesAreMany) {
  EXPECT_NE(honesty(48, 30, linear, Fitted::on_the_same_draws, Fitted::on_other_draws)
                .complaint(false_alarm_rate),
            "");
}

TEST(SharpenHonesty, AFrameOfTheSameDrawsIsCaught) {
  // Two coefficients of 200 draws do no harm, the 120 numbers of a row of C do.
  EXPECT_EQ(honesty(200, 2, smooth, Fitted::on_the_same_draws, Fitted::on_other_draws)
                .complaint(false_alarm_rate),
            "");
  EXPECT_NE(honesty(200, 120, smooth, Fitted::on_the_same_draws, Fitted::on_the_same_draws)
                .complaint(false_alarm_rate),
            "");
}

}  // namespace
}  // namespace rehmc::testing
