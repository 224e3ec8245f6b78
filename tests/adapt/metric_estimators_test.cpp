// Estimators of metrics: exact where they must be, silent where they cannot.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <vector>

#include "rehmc/core/random.hpp"
#include "src/adapt/dense_geometric.hpp"
#include "src/adapt/dense_slope.hpp"
#include "src/adapt/diagonal_ratio.hpp"
#include "src/adapt/diagonal_variance.hpp"
#include "src/adapt/low_rank_estimate.hpp"
#include "src/adapt/metric_choice.hpp"
#include "src/adapt/stage_statistics.hpp"

namespace rehmc::metric_estimators_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd normals(Index rows, Index columns, std::uint64_t seed) {
  MatrixXd z(rows, columns);
  Stream({seed, 0, 0}, Purpose::test).fill_normal({z.data(), static_cast<std::size_t>(z.size())});
  return z;
}

/// States z, far from any stationary law, of a normal density with this covariance: a gradient is
/// minus the precision times the state.
StateSample states_of(const MatrixXd& covariance, Index count, std::uint64_t seed,
                      double centre = 0) {
  const Index d = covariance.rows();
  const MatrixXd z = normals(count, d, seed);
  StateSample sample;
  sample.dimension = static_cast<std::uint64_t>(d);
  sample.draws = static_cast<std::uint64_t>(count);
  const Eigen::LLT<MatrixXd> cholesky(covariance);
  for (Index i = 0; i < count; ++i) {
    const VectorXd offset = cholesky.matrixL() * VectorXd(z.row(i));
    const VectorXd x = offset.array() + centre;
    const VectorXd g = -cholesky.solve(offset);
    sample.positions.insert(sample.positions.end(), x.begin(), x.end());
    sample.gradients.insert(sample.gradients.end(), g.begin(), g.end());
    sample.weights.push_back(1);
  }
  return sample;
}

CentredStates centred_states(const StateSample& sample) {
  const StateSample* const one = &sample;
  return centred({&one, 1});
}

/// A random rotation of these variances.
MatrixXd rotated(const VectorXd& variances) {
  const Eigen::HouseholderQR<MatrixXd> qr(normals(variances.size(), variances.size(), 7));
  const MatrixXd q = qr.householderQ();
  return q * variances.asDiagonal() * q.transpose();
}

MatrixXd matrix_of(const Metric& metric) {
  const auto d = static_cast<Index>(metric.dimension());
  MatrixXd matrix(d, d);
  for (Index i = 0; i < d; ++i) {
    const VectorXd unit = VectorXd::Unit(d, i);
    metric.inverse_mass_times({unit.data(), metric.dimension()},
                              {matrix.col(i).data(), metric.dimension()});
  }
  return matrix;
}

/// The largest relative error of a quadratic form in coordinates where the covariance is 1.
double error_of(const Metric& metric, const MatrixXd& covariance) {
  const Eigen::LLT<MatrixXd> cholesky(covariance);
  const MatrixXd half = cholesky.matrixL().solve(matrix_of(metric));
  const MatrixXd whitened = cholesky.matrixL().solve(half.transpose());
  return (whitened - MatrixXd::Identity(covariance.rows(), covariance.cols())).norm();
}

// A normal density has x = m - Sigma g at every state, whatever law the states have: few more
// states than coordinates suffice, at a condition number of 10^8.
TEST(DenseEstimators, AreExactForANormalDensity) {
  const MatrixXd covariance = rotated(
      VectorXd::LinSpaced(6, -4, 4).array().unaryExpr([](double e) { return std::pow(10.0, e); }));
  const CentredStates states = centred_states(states_of(covariance, 40, 1));
  const auto geometric = dense_geometric(states);
  ASSERT_NE(geometric, nullptr);
  EXPECT_LT(error_of(*geometric, covariance), 1e-3);
  const auto slope = dense_slope(states);
  ASSERT_NE(slope, nullptr);
  EXPECT_LT(error_of(*slope, covariance), 1e-3);
  // The covariance of the states alone is far off: a control of the test.
  const MatrixXd raw = states.x.transpose() * states.x;
  const auto plain = make_dense_metric(6, {raw.data(), 36});
  EXPECT_GT(error_of(*plain, covariance), 0.1);
}

// So it is where chains have moved by 1/300 of what they should in some directions, because their
// metric was poor: the ridge must not count for more there than the states.
TEST(DenseEstimators, AreExactWhereChainsHaveHardlyMoved) {
  constexpr Index d = 20;
  const VectorXd variances =
      VectorXd::LinSpaced(d, -3, 3).array().unaryExpr([](double e) { return std::pow(10.0, e); });
  const MatrixXd covariance = rotated(variances);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> axes(covariance);
  const VectorXd moved =
      VectorXd::LinSpaced(d, 0, -2.5).array().unaryExpr([](double e) { return std::pow(10.0, e); });
  const MatrixXd z = normals(100, d, 2);
  CentredStates states;
  states.draws = 100;
  const VectorXd sds = axes.eigenvalues().cwiseSqrt();
  states.x = z * (moved.cwiseProduct(sds)).asDiagonal() * axes.eigenvectors().transpose() / 10;
  states.g = -z * (moved.cwiseQuotient(sds)).asDiagonal() * axes.eigenvectors().transpose() / 10;
  const auto geometric = dense_geometric(states);
  ASSERT_NE(geometric, nullptr);
  EXPECT_LT(error_of(*geometric, covariance), 0.01);
}

TEST(DenseEstimators, ReturnNothingFromTooFewStates) {
  const CentredStates states = centred_states(states_of(MatrixXd::Identity(6, 6), 21, 1));
  EXPECT_EQ(dense_geometric(states), nullptr);
  EXPECT_EQ(dense_slope(states), nullptr);
}

TEST(DiagonalRatio, IsExactForIndependentNormalCoordinates) {
  const VectorXd variances = VectorXd::LinSpaced(5, 1, 5).array().exp();
  const auto metric = diagonal_ratio(centred_states(states_of(variances.asDiagonal(), 3, 2)));
  ASSERT_NE(metric, nullptr);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_NEAR(metric->inverse_diagonal()[static_cast<std::size_t>(i)] / variances[i], 1, 1e-12);
  }
}

TEST(DiagonalVariance, IsStansShrunkVariance) {
  const CentredStates states = centred_states(states_of(MatrixXd::Identity(2, 2), 50, 3));
  const auto metric = diagonal_variance(states);
  ASSERT_NE(metric, nullptr);
  const double expected = 50.0 / 55 * states.x.col(1).squaredNorm() + 1e-3 * 5 / 55;
  EXPECT_DOUBLE_EQ(metric->inverse_diagonal()[1], expected);
}

TEST(LowRankEstimate, IsExactForAFewStretchedDirections) {
  constexpr Index d = 60;
  MatrixXd covariance = MatrixXd::Identity(d, d);
  const Eigen::HouseholderQR<MatrixXd> qr(normals(d, 2, 5));
  const MatrixXd u = qr.householderQ() * MatrixXd::Identity(d, 2);
  covariance += u * Eigen::Vector2d(99, -0.99).asDiagonal() * u.transpose();
  const VectorXd scale = VectorXd::LinSpaced(d, -2, 2).array().exp();
  const MatrixXd scaled = scale.asDiagonal() * covariance * scale.asDiagonal();
  const auto metric = low_rank_estimate(centred_states(states_of(scaled, 400, 5)));
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric->kind(), MetricKind::low_rank);
  EXPECT_LT(error_of(*metric, scaled), 0.05);
}

TEST(Estimators, ReturnNothingForACoordinateThatNeverChanges) {
  StateSample sample = states_of(MatrixXd::Identity(3, 3), 50, 6);
  for (std::size_t i = 1; i < sample.positions.size(); i += 3) {
    sample.positions[i] = 1;
    sample.gradients[i] = 0;
  }
  for (const MetricEstimator& estimator : estimators_of(std::nullopt, 3)) {
    if (estimator.name == "diagonal_variance") continue;  // shrunk towards a small number
    EXPECT_EQ(estimator.estimate(centred_states(sample)), nullptr) << estimator.name;
  }
}

TEST(CentredStates, HaveEachChainAboutItsOwnMean) {
  const StateSample near = states_of(MatrixXd::Identity(2, 2), 30, 8);
  const StateSample far = states_of(MatrixXd::Identity(2, 2), 30, 9, 1000);
  const std::vector<const StateSample*> both{&near, &far};
  const CentredStates states = centred(both);
  EXPECT_LT(states.x.colwise().squaredNorm().maxCoeff(), 3);
  EXPECT_NEAR(states.draws, 60, 0);
}

// A direction in which the metric is wrong by a factor of f adds f + 1/f - 2.
TEST(MappingLoss, IsWhatItsCommentSays) {
  const MatrixXd covariance = rotated(Eigen::Vector3d(1, 4, 9));
  const CentredStates states = centred_states(states_of(covariance, 400000, 10));
  const auto right = make_dense_metric(3, {covariance.data(), 9});
  EXPECT_NEAR(mapping_loss(*right, states), 0, 1e-9);
  const MatrixXd tripled = 3 * covariance;
  const auto wrong = make_dense_metric(3, {tripled.data(), 9});
  // Mean of a chi square with 3 degrees of freedom, times 4/3, from 400,000 states: an sd of 0.005;
  // 5 sds are passed by chance once in a million.
  EXPECT_NEAR(mapping_loss(*wrong, states), 3 * (3 + 1.0 / 3 - 2), 0.026);
}

TEST(MetricChoice, TakesADenseMetricWhereCoordinatesAreCorrelated) {
  const MatrixXd covariance = rotated(Eigen::Vector3d(1, 100, 10000));
  const StateSample a = states_of(covariance, 40, 11);
  const StateSample b = states_of(covariance, 40, 12);
  const std::vector<const StateSample*> chains{&a, &b};
  const auto all = estimators_of(std::nullopt, 3);
  const MetricChoice choice = choose_metric(all, chains, chains);
  ASSERT_NE(choice.metric, nullptr);
  EXPECT_EQ(choice.metric->kind(), MetricKind::dense);
  EXPECT_LT(choice.loss, 1e-3);
}

// Where coordinates are independent, a dense metric has only its noise to add: the fewer states,
// the more. Gradients of a density with heavy tails are no linear function of the state.
TEST(MetricChoice, TakesADiagonalMetricWhereADenseOneAddsNoise) {
  constexpr Index d = 20;
  std::vector<StateSample> chains;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const MatrixXd z = normals(60, d, 20 + seed);
    const MatrixXd noise = normals(60, d, 30 + seed);
    StateSample& sample = chains.emplace_back();
    sample.dimension = d;
    sample.draws = 60;
    sample.weights.assign(60, 1);
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < d; ++j) {
        sample.positions.push_back(z(i, j));
        sample.gradients.push_back(-z(i, j) + noise(i, j));
      }
    }
  }
  std::vector<const StateSample*> all;
  for (const StateSample& chain : chains) all.push_back(&chain);
  const auto estimators = estimators_of(std::nullopt, d);
  const MetricChoice choice = choose_metric(estimators, all, all);
  ASSERT_NE(choice.metric, nullptr);
  EXPECT_EQ(choice.metric->kind(), MetricKind::diagonal);
  // One chain must not be judged by the states that it was fitted to.
  const std::span<const StateSample* const> one = std::span(all).first(1);
  const MetricChoice alone = choose_metric(estimators, one, one);
  ASSERT_NE(alone.metric, nullptr);
  EXPECT_EQ(alone.metric->kind(), MetricKind::diagonal);
}

TEST(MetricChoice, HasNothingToOfferForFrozenChains) {
  StateSample stuck;
  stuck.dimension = 2;
  stuck.draws = 5;
  stuck.positions.assign(10, 1.0);
  stuck.gradients.assign(10, 0.5);
  stuck.weights.assign(5, 1.0);
  const std::vector<const StateSample*> chains{&stuck, &stuck};
  const auto all = estimators_of(MetricKind::dense, 2);
  EXPECT_EQ(choose_metric(all, chains, chains).metric, nullptr);
}

// Energy errors of a normal density grow with e^2 times the Frobenius norm of M^{-1} Cov(g).
TEST(StepSizeRatio, FollowsTheMetric) {
  const CentredStates one = centred_states(states_of(MatrixXd::Identity(4, 4), 300, 40));
  const CentredStates other = centred_states(states_of(MatrixXd::Identity(4, 4), 300, 41));
  const auto unit = make_unit_metric(4);
  const auto wide = make_diagonal_metric(std::vector<double>(4, 9.0));
  EXPECT_NEAR(step_size_ratio(*wide, *unit, one, other), 1.0 / 3, 1e-12);
  EXPECT_EQ(step_size_ratio(*wide, *unit, CentredStates{}, other), 1);
}

TEST(Drift, IsTheChangeInUnitsOfTheSd) {
  const std::vector<double> rising{0, 1, 0, 1, 2, 3, 2, 3};
  const std::vector<double> constant(8, 5.0);
  EXPECT_NEAR(drift({rising}), 2 / std::sqrt(1.25), 1e-12);
  EXPECT_EQ(drift({constant}), 0);
  EXPECT_EQ(drift({std::span(constant).first(1)}), 0);
}

// exp(log_mass) is height times volume: the same for normals of all scales whose heights are those
// of densities.
TEST(StageStatistics, CompareMassNotHeight) {
  std::vector<double> masses;
  for (const double sd : {1e-3, 1.0, 1e3}) {
    Stream stream({8, 0, 0}, Purpose::test);
    StateSample states;
    states.dimension = 3;
    std::vector<double> heights;
    for (int draw = 0; draw < 20; ++draw) {
      double height = -3 * std::log(sd);
      for (int i = 0; i < 3; ++i) {
        const double z = stream.normal();
        states.positions.push_back(sd * z);
        states.gradients.push_back(-z / sd);
        height -= 0.5 * z * z;
      }
      states.weights.push_back(1);
      ++states.draws;
      heights.push_back(height);
    }
    masses.push_back(log_mass(states, heights));
  }
  EXPECT_NEAR(masses[0], masses[1], 1e-9);
  EXPECT_NEAR(masses[2], masses[1], 1e-9);
  const std::vector<double> heights{1, 2};
  EXPECT_EQ(log_mass(StateSample{}, heights), -std::numeric_limits<double>::infinity());
}

TEST(StageStatistics, FindChainsFarBelowTheOthers) {
  const auto outliers = [](const std::vector<double>& masses, std::size_t dimension) {
    return outliers_below(masses, dimension);
  };
  EXPECT_EQ(outliers({0, 3, -30, 1}, 1), std::vector<std::size_t>{2});
  EXPECT_TRUE(outliers({0, 3, -30, 1}, 100).empty()) << "chance differs by more in many dimensions";
  EXPECT_TRUE(outliers({0, 30, 1}, 1).empty()) << "above is no fault";
  EXPECT_TRUE(outliers({-1e9}, 1).empty()) << "one chain has nothing to be compared with";
  const double never_moved = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(outliers({0, never_moved, 1}, 4), std::vector<std::size_t>{1});
}

}  // namespace
}  // namespace rehmc::metric_estimators_test
