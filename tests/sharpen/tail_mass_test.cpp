// Tails that a short run has missed: what features leave of their mass bounds the error bars.
#include "src/sharpen/tail_mass.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstddef>

#include "lines.hpp"
#include "src/sharpen/scalar_choice.hpp"

namespace rehmc::testing::tail_mass_test {
namespace {

TEST(LeastLeft, IsAPartOfWhatIsLeftOfTheMass) {
  const stein::LeastLeft least = stein::least_left(0.5, 400);
  EXPECT_DOUBLE_EQ(least.of_mean, 0.075);
  EXPECT_DOUBLE_EQ(least.of_square, 0.25);
  EXPECT_DOUBLE_EQ(stein::least_left(0.5, 100).of_square, least.of_square);
  EXPECT_DOUBLE_EQ(stein::least_left(1.2, 400).of_square, 0.5);
  EXPECT_EQ(stein::least_left(0, 400).of_mean, 0);
}

TEST(LeastLeft, FallsAsDrawsAreMore) {
  EXPECT_DOUBLE_EQ(stein::least_left(1, 4000).of_square, stein::least_left(1, 400).of_square / 10);
}

/// Draws of a normal, of whose square features leave a twentieth, and of its indicators the given
/// share of the squared error.
SharpenedEstimate estimate_of(std::size_t draws_per_chain, double mass_left) {
  const LineRun line(normal_line(), draws_per_chain, 0);
  stein::Run run(line.states, {});
  const LineScalar scalar(line, [](double x) { return x; });
  const stein::ScalarTarget target(run, scalar.scalar);
  stein::Remainders remainders;
  remainders.left[stein::Remainders::index(FeatureSet::none)] = target.targets();
  Eigen::MatrixXd& left = remainders.left[stein::Remainders::index(FeatureSet::own)];
  left = target.targets();
  constexpr double of_moments = 0.05;
  for (Eigen::Index t = 0; t < left.cols(); ++t) {
    const double share =
        t < stein::TargetColumns::moments.end() ? of_moments : std::sqrt(mass_left);
    const double mean = left.col(t).mean();
    left.col(t) = (share * (left.col(t).array() - mean) + mean).matrix();
  }
  remainders.slopes.resize(run.folds.size());
  for (auto& of_fold : remainders.slopes) of_fold.fill(Eigen::VectorXd::Zero(7));
  remainders.threshold_features.setZero(left.rows(), 7);
  return stein::ScalarChoice(run, target, remainders, {}).estimate();
}

TEST(TailMass, ItsRemainderBoundsTheErrorBarsOfMomentsOfShortRuns) {
  const SharpenedEstimate well = estimate_of(100, 1e-4);
  ASSERT_EQ(well.sd_set, FeatureSet::own);
  EXPECT_TRUE(well.sd_tail_seen);
  const SharpenedEstimate badly = estimate_of(100, 0.5);
  EXPECT_EQ(badly.estimate.sd, well.estimate.sd);
  // The largest excursion has some 4% of the variance of the square: 1.8 times that, times 0.25,
  // is several times the 0.05^2 that features leave.
  EXPECT_GT(badly.estimate.mcse_sd, 1.5 * well.estimate.mcse_sd);
  EXPECT_LT(badly.estimate.degrees_sd, 5);
  EXPECT_GT(badly.estimate.mcse_mean, 1.02 * well.estimate.mcse_mean);
  EXPECT_FALSE(badly.sd_tail_seen);
}

TEST(TailMass, DoesNotMatterWhereDrawsAreMany) {
  const SharpenedEstimate well = estimate_of(5000, 1e-4);
  const SharpenedEstimate badly = estimate_of(5000, 0.5);
  EXPECT_LT(badly.estimate.mcse_sd, 1.02 * well.estimate.mcse_sd);
  EXPECT_TRUE(badly.sd_tail_seen);
}

}  // namespace
}  // namespace rehmc::testing::tail_mass_test
