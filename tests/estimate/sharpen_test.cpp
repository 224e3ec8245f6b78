// The pieces of sharpening: tails, fields, frames, cross-fitted regression, and bad input.
#include "rehmc/estimate/sharpen.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "src/estimate/cross_fit.hpp"
#include "src/estimate/pareto.hpp"
#include "src/estimate/stein_features.hpp"
#include "src/estimate/stein_frame.hpp"

namespace rehmc {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Stream stream(std::uint64_t iteration) { return {Address{5, 1, iteration}, Purpose::test}; }

TEST(TailShape, IsThatOfTheLaw) {
  // For n values, the largest 3 sqrt(n) of them: the error of the estimate is (1 + k) / sqrt(m),
  // with m = 600 of 40,000. Five of them: a false alarm in a million.
  for (const double shape : {0.0, 0.25, 0.5, 1.0}) {
    Stream numbers = stream(1);
    std::vector<double> values(40'000);
    for (double& value : values) {
      const double u = numbers.uniform();
      value = shape == 0 ? -std::log(u) : (std::pow(u, -shape) - 1) / shape;
    }
    EXPECT_NEAR(tail_shape(values), shape, 5 * (1 + shape) / std::sqrt(600));
  }
}

TEST(TailShape, SaysWhenThereIsNoTail) {
  EXPECT_TRUE(std::isnan(tail_shape(std::vector<double>(10, 1.0))));
  EXPECT_EQ(tail_shape(std::vector<double>(1000, 1.0)), -std::numeric_limits<double>::infinity());
}

TEST(MillsRatio, IsRightNearAndFar) {
  for (const double t : {0.0, 0.5, 2.0, 4.999, 5.0, 5.001, 12.0, 30.0}) {
    // 1 - Phi(t) by the tail function, where it has not underflowed.
    const double density = std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(mills_ratio(t) * density / normal_cdf(-t), 1, 1e-12) << t;
  }
  EXPECT_NEAR(mills_ratio(1e6), 1e-6, 1e-17);
}

/// h_q at z, by the ratios that the features use.
double field_at(double q, double z) {
  const double t = std::abs(z);
  const double outer = mills_ratio(t);
  const double inner = std::sqrt(2 * std::numbers::pi) * std::exp(t * t / 2) - outer;
  return ThresholdField(q).field(z <= q, z < 0 ? outer : inner, z < 0 ? inner : outer);
}

TEST(ThresholdField, SolvesSteinsEquationAndIsContinuous) {
  for (const double q : {-2.0, -0.3, 0.0, 1.5}) {
    EXPECT_NEAR(field_at(q, q), field_at(q, q + 1e-12), 1e-11);
    for (const double z : {-6.0, -2.5, -1.0, 0.4, 2.0, 6.0}) {
      // The feature is h u + h'; at u = 0 it is the derivative.
      const double t = std::abs(z);
      const double outer = mills_ratio(t);
      const double inner = std::sqrt(2 * std::numbers::pi) * std::exp(t * t / 2) - outer;
      const double derivative =
          ThresholdField(q).feature(z <= q, z, 0, z < 0 ? outer : inner, z < 0 ? inner : outer);
      const double step = 1e-5;
      const double difference = (field_at(q, z + step) - field_at(q, z - step)) / (2 * step);
      EXPECT_NEAR(derivative, difference, 1e-7) << q << ' ' << z;
    }
  }
}

/// States of a run on a correlated normal: exact, independent draws, one state each.
struct NormalRun {
  CorrelatedNormal model{wishart_draw({4, 8, 1})};
  std::size_t chains = 4;
  std::size_t draws = 0;
  std::vector<std::vector<double>> positions;
  std::vector<std::vector<float>> gradients;
  std::vector<double> weights;
  std::vector<std::size_t> begins;
  std::vector<GradientStates> states;

  explicit NormalRun(std::size_t draws_per_chain, std::uint64_t replicate = 0)
      : draws(draws_per_chain) {
    const std::size_t d = model.dimension();
    weights.assign(draws, 1.0);
    for (std::size_t n = 0; n <= draws; ++n) begins.push_back(n);
    std::vector<double> x(d);
    std::vector<double> g(d);
    for (std::size_t c = 0; c < chains; ++c) {
      Stream numbers(Address{replicate, static_cast<std::uint32_t>(c), 7}, Purpose::test);
      auto& of_chain = positions.emplace_back();
      auto& gradient = gradients.emplace_back();
      for (std::size_t n = 0; n < draws; ++n) {
        model.sample(numbers, x);
        model(x, g);
        of_chain.insert(of_chain.end(), x.begin(), x.end());
        for (const double entry : g) gradient.push_back(static_cast<float>(entry));
      }
    }
    for (std::size_t c = 0; c < chains; ++c) {
      states.push_back({positions[c], gradients[c], weights, begins});
    }
  }
};

TEST(SteinFrame, IsExactForAGaussianWhateverTheSample) {
  const NormalRun run(20);
  const StateTable table(run.states);
  const SteinFrame frame = SteinFrame::fit(table.positions, table.gradients, table.weights, 80);
  EXPECT_FALSE(frame.diagonal);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(frame.scale[i], std::sqrt(run.model.variance(static_cast<std::size_t>(i))), 1e-5);
    EXPECT_NEAR(frame.centre[i], 0, 1e-5);
  }
  const MatrixXd u = table.gradients * frame.matrix.transpose();
  for (Index s = 0; s < u.rows(); ++s) {
    for (Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(u(s, i), -table.positions(s, i) / frame.scale[i], 1e-4);
    }
  }
}

TEST(SteinFrame, IsDiagonalWhereDrawsAreFew) {
  const NormalRun run(20);
  const StateTable table(run.states);
  EXPECT_TRUE(SteinFrame::fit(table.positions, table.gradients, table.weights, 7).diagonal);
}

struct Columns {
  MatrixXd shared{200, 3};
  MatrixXd own{200, 6};  ///< the last two are targets
  Fold fold{50, 100};

  explicit Columns(std::uint64_t iteration) {
    Stream numbers = stream(iteration);
    for (Index n = 0; n < 200; ++n) {
      for (Index k = 0; k < 3; ++k) shared(n, k) = numbers.normal();
      for (Index k = 0; k < 6; ++k) own(n, k) = numbers.normal() + 0.3 * shared(n, k % 3);
    }
  }
  /// Coefficients by a decomposition of the whole problem, with an intercept.
  MatrixXd direct(const std::vector<Index>& features, bool with_shared) const {
    const Index rows = 150;
    MatrixXd design(rows, 1 + static_cast<Index>(features.size()) + (with_shared ? 3 : 0));
    MatrixXd targets(rows, 2);
    Index row = 0;
    for (Index n = 0; n < 200; ++n) {
      if (n >= fold.begin && n < fold.end) continue;
      Index column = 0;
      design(row, column++) = 1;
      for (const Index feature : features) design(row, column++) = own(n, feature);
      for (Index k = 0; with_shared && k < 3; ++k) design(row, column++) = shared(n, k);
      targets.row(row++) = own.row(n).tail(2);
    }
    return design.colPivHouseholderQr().solve(targets).bottomRows(design.cols() - 1);
  }
};

TEST(CrossFit, IsLeastSquaresOfTheOtherDraws) {
  const Columns columns(2);
  const SharedColumns shared(columns.shared, columns.fold);
  const CrossFit regression(columns.own, 2, columns.fold, shared, true);
  const std::vector<Index> features{0, 2, 3};
  for (const bool with_shared : {false, true}) {
    const MatrixXd expected = columns.direct(features, with_shared);
    std::vector<CrossFit::Fit> fits{regression.fit(features, with_shared, {0, 2})};
    const CrossFit::Fit& fit = fits.front();
    EXPECT_LT((fit.own - expected.topRows(3)).norm(), 1e-6);
    if (with_shared) {
      EXPECT_LT((fit.shared - expected.bottomRows(3)).norm(), 1e-6);
    }
    const MatrixXd left = regression.residuals(fits).front();
    for (const Index n : {Index{0}, Index{70}, Index{199}}) {
      VectorXd by_hand = columns.own.row(n).tail(2).transpose();
      for (Index a = 0; a < 3; ++a) {
        by_hand -= expected.row(a).transpose() * columns.own(n, features[static_cast<size_t>(a)]);
      }
      for (Index k = 0; with_shared && k < 3; ++k) {
        by_hand -= expected.row(3 + k).transpose() * columns.shared(n, k);
      }
      EXPECT_LT((left.row(n).transpose() - by_hand).norm(), 1e-6);
    }
  }
}

TEST(CrossFit, DependenceIsTheDerivativeOfTheFoldsCorrection) {
  Columns columns(3);
  const SharedColumns shared(columns.shared, columns.fold);
  const std::vector<Index> features{1, 3};
  const auto correction = [&] {
    const CrossFit regression(columns.own, 2, columns.fold, shared, true);
    std::vector<CrossFit::Fit> fits{regression.fit(features, true, {0, 1})};
    const MatrixXd left = regression.residuals(fits).front();
    // What the features take off the mean of the fold's first target.
    return columns.own.col(4).segment(50, 50).mean() - left.col(0).segment(50, 50).mean();
  };
  const CrossFit regression(columns.own, 2, columns.fold, shared, true);
  std::vector<CrossFit::Fit> fits{regression.fit(features, true, {0, 1})};
  regression.residuals(fits);
  const VectorXd dependence = fits.front().dependence;
  for (const Index n : {Index{3}, Index{49}, Index{100}, Index{180}}) {
    const double before = correction();
    const double step = 1e-3;
    columns.own(n, 4) += step;
    const double after = correction();
    columns.own(n, 4) -= step;
    EXPECT_NEAR((after - before) / step, dependence[n] / 150, 1e-8);
  }
}

TEST(Sharpen, RefusesDataThatDoNotFit) {
  const NormalRun run(20);
  const auto with = [&](auto&& change) {
    std::vector<GradientStates> states = run.states;
    change(states);
    return states;
  };
  EXPECT_THROW(sharpen(std::vector<GradientStates>{}, {}), DataError);
  EXPECT_THROW(sharpen(with([](auto& s) { s[1].gradients = s[1].gradients.subspan(1); }), {}),
               DataError);
  EXPECT_THROW(sharpen(with([](auto& s) { s[2].begins = s[2].begins.first(5); }), {}), DataError);
  const std::vector<double> few(3);
  const std::vector<Series> series{{few.data(), few.size(), 1}};
  ScalarStates scalar;
  scalar.values = series;
  scalar.known.sd = 1;
  EXPECT_THROW(sharpen(run.states, std::vector<ScalarStates>{scalar}), DataError);
}

TEST(Sharpen, BlocksAreNamesUpToTheFirstDotOrBracket) {
  const std::vector<std::string> names{"mu", "beta.1", "beta.2", "tau[1]", "tau[2]", "beta.3"};
  const std::vector<std::vector<std::size_t>> expected{{0}, {1, 2, 5}, {3, 4}};
  EXPECT_EQ(blocks_of(names), expected);
}

TEST(SteinCheck, PassesExactDrawsAndFailsWrongGradients) {
  SharpenSettings settings;
  settings.check_only = true;
  settings.blocks = {{0, 1, 2, 3}};
  int fired = 0;
  constexpr int runs = 200;
  for (std::uint64_t r = 0; r < runs; ++r) {
    const NormalRun run(500, r);
    fired += sharpen(run.states, {}, settings).check.passed() ? 0 : 1;
  }
  // 0.2 expected at the stated rate of 1e-3; six or more have a chance of 8e-8.
  EXPECT_LT(fired, 6);

  NormalRun wrong(500);
  for (auto& chain : wrong.gradients) {
    for (std::size_t i = 1; i < chain.size(); i += 4) chain[i] += 0.3F;  // a shifted coordinate
  }
  EXPECT_FALSE(sharpen(wrong.states, {}, settings).check.passed());
}

}  // namespace
}  // namespace rehmc
