// The pieces of sharpening: tails, fields, frames, cross-fitted regression, and bad input.
#include "rehmc/sharpen/sharpen.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/two_mode_mixture.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/estimate/pareto.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "src/sharpen/cross_fit.hpp"
#include "src/sharpen/stein_features.hpp"
#include "src/sharpen/stein_frame.hpp"
#include "tests/sharpen/honest.hpp"

namespace rehmc::sharpen_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::Honesty;

Stream stream(std::uint64_t iteration) { return {Address{5, 1, iteration}, Purpose::test}; }

TEST(TailShape, IsThatOfTheDistribution) {
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

// A remainder may be that far off where a density ends. A shape of NaN would pass for a light tail.
TEST(TailShape, IsThatOfNumbersNearTheLargest) {
  for (const double exponent : {4.0, 20.0, 100.0, 250.0}) {
    std::vector<double> values(1000, 1.0);
    for (std::size_t n = 0; n < values.size(); ++n) values[n] += static_cast<double>(n % 97);
    for (std::size_t n = 0; n < values.size(); n += 90) values[n] = std::pow(10, exponent);
    EXPECT_GT(tail_shape(values), 0.5) << exponent;
  }
}

TEST(TailShape, ReportsWhenThereIsNoTail) {
  EXPECT_TRUE(std::isnan(tail_shape(std::vector<double>(10, 1.0))));
  EXPECT_EQ(tail_shape(std::vector<double>(1000, 1.0)), -std::numeric_limits<double>::infinity());
}

/// The feature of a threshold q at one state z of a standard frame, for (C g) = u.
double feature_at(double q, double z, double u) {
  const std::vector<double> position{z};
  const std::vector<float> gradient{0};
  const std::vector<double> weight{1};
  const std::vector<std::size_t> begins{0, 1};
  const StateTable table(std::vector<GradientStates>{{position, gradient, weight, begins}});
  SteinFrame frame;
  frame.centre = VectorXd::Zero(1);
  frame.scale = VectorXd::Ones(1);
  frame.matrix = MatrixXd::Ones(1, 1);
  const CoordinateStates states(table, frame, 0, VectorXd::Constant(1, u));
  const Threshold at(table, frame, 0, states, q);
  EXPECT_EQ(at.means({1, 0}, 0, 1)[0], z <= q ? 1 : 0);
  return at.means({0, 1}, 0, 1)[0];
}

/// Its field: the feature is h u + h'.
double field_at(double q, double z) { return feature_at(q, z, 1) - feature_at(q, z, 0); }

TEST(Threshold, FieldIsTheBoundedSolutionOfSteinsEquation) {
  for (const double q : {-2.0, -0.3, 0.0, 1.5}) {
    EXPECT_NEAR(field_at(q, q), field_at(q, q + 1e-12), 1e-11);
    for (const double z :
         {-20.0, -6.0, -5.001, -4.999, -2.5, 0.031, 0.4, 2.0, 4.999, 5.001, 20.0}) {
      const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
      const double expected = normal_cdf(std::min(z, q)) * normal_cdf(-std::max(z, q)) / density;
      EXPECT_NEAR(field_at(q, z) / expected, 1, 1e-12) << q << ' ' << z;
      const double step = 1e-5;
      const double difference = (field_at(q, z + step) - field_at(q, z - step)) / (2 * step);
      EXPECT_NEAR(feature_at(q, z, 0), difference, 1e-7) << q << ' ' << z;
      EXPECT_NEAR(feature_at(q, z, -z), (z <= q ? 1 : 0) - normal_cdf(q), 1e-12) << q << ' ' << z;
    }
  }
}

TEST(Threshold, IsZeroWhereNumbersEnd) { EXPECT_EQ(feature_at(31, 0, 0.5), 0); }

/// Chains with one state for each draw.
struct SimpleRun {
  std::size_t chains = 4;
  std::size_t draws = 0;
  std::vector<std::vector<double>> positions;
  std::vector<std::vector<float>> gradients;
  std::vector<double> weights;
  std::vector<std::size_t> begins;
  std::vector<GradientStates> states;

  std::vector<Series> first_coordinate() const {
    std::vector<Series> series;
    for (const auto& chain : positions) {
      series.push_back({chain.data(), draws, static_cast<std::ptrdiff_t>(chain.size() / draws)});
    }
    return series;
  }
  /// Moves x to the next draw of a chain, from whatever it is at first.
  template <class Model, class Move>
  void fill(const Model& model, std::size_t draws_per_chain, std::uint64_t replicate,
            const Move& move) {
    draws = draws_per_chain;
    const std::size_t d = model.dimension();
    weights.assign(draws, 1.0);
    for (std::size_t n = 0; n <= draws; ++n) begins.push_back(n);
    for (std::size_t c = 0; c < chains; ++c) {
      std::vector<double> x(d);
      std::vector<double> g(d);
      Stream numbers(Address{replicate, static_cast<std::uint32_t>(c), 7}, Purpose::test);
      auto& of_chain = positions.emplace_back();
      auto& gradient = gradients.emplace_back();
      for (std::size_t n = 0; n < draws; ++n) {
        move(numbers, x);
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

/// A scalar with its estimates without gradients.
ScalarStates known_scalar(const std::vector<Series>& series,
                          std::optional<std::size_t> coordinate = std::nullopt) {
  ScalarStates scalar;
  scalar.coordinate = coordinate;
  scalar.values = series;
  scalar.known = plain_estimate(series);
  return scalar;
}

/// Exact, independent draws of a correlated normal.
struct NormalRun : SimpleRun {
  CorrelatedNormal model;

  explicit NormalRun(std::size_t draws_per_chain, std::uint64_t replicate = 0)
      : model(wishart_draw({4, 8, 1})) {
    fill(model, draws_per_chain, replicate,
         [&](Stream& numbers, std::span<double> x) { model.sample(numbers, x); });
  }
};

/// Two modes that chains rarely move between, so that the shares of the modes are the least
/// precise.
struct ModesRun : SimpleRun {
  TwoModeMixture model;

  ModesRun(std::size_t draws_per_chain, std::uint64_t replicate) : model(TwoModeSettings{1, 8}) {
    fill(model, draws_per_chain, replicate, [&](Stream& numbers, std::span<double> x) {
      const bool first = x[0] == 0;
      const bool positive = first ? numbers.chance(0.5) : (x[0] > 0) != numbers.chance(0.15);
      model.sample(numbers, x);
      x[0] = positive ? std::abs(x[0]) : -std::abs(x[0]);
    });
  }
};

TEST(Threshold, SumsAreThoseOfTheMeans) {
  const NormalRun run(1000);
  const StateTable table(run.states);
  const SteinFrame frame = SteinFrame::fit(table.positions, table.gradients, table.weights, 4000);
  const CoordinateStates states(table, frame, 1, frame.products(table.gradients).col(1));
  const Threshold at(table, frame, 1, states, frame.centre[1] + 0.3 * frame.scale[1]);
  for (const Threshold::Mix& mix : {Threshold::Mix{3, 2}, {1, 0}, {0, -1}}) {
    // More states than are summed at once.
    EXPECT_NEAR(at.sum_of_means(mix, 10, 3700), at.means(mix, 10, 3700).sum(), 1e-9);
  }
}

TEST(SteinFrame, IsExactForAGaussianWhateverTheSample) {
  const NormalRun run(20);
  const StateTable table(run.states);
  const SteinFrame frame = SteinFrame::fit(table.positions, table.gradients, table.weights, 80);
  EXPECT_TRUE(frame.dense());
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
  const SteinFrame frame = SteinFrame::fit(table.positions, table.gradients, table.weights, 7);
  EXPECT_FALSE(frame.dense());
  EXPECT_EQ(frame.low_rank_left.cols(), 0);
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

/// Least squares with or without the shared columns.
struct Regression {
  Regression(const Columns& columns, bool with_shared)
      : alone(columns.own, {4, 2}, columns.fold),
        shared(columns.shared, columns.fold),
        remainders(shared.remainders(columns.own)),
        together(remainders, {4, 2}, columns.fold, alone.scales(), shared),
        wanted(with_shared ? together : alone) {}

  CrossFit alone;
  SharedColumns shared;
  MatrixXd remainders;
  CrossFit together;
  const CrossFit& wanted;
};

TEST(CrossFit, IsLeastSquaresOfTheOtherDraws) {
  const Columns columns(2);
  const std::vector<Index> features{0, 2, 3};
  for (const bool with_shared : {false, true}) {
    const MatrixXd expected = columns.direct(features, with_shared);
    const Regression both(columns, with_shared);
    const CrossFit& regression = both.wanted;
    const CrossFit::Fit fit = regression.fit(features, {0, 2});
    EXPECT_LT((fit.coefficients - expected.topRows(3)).norm(), 1e-6);
    const MatrixXd left = regression.residuals({fit});
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
  const std::vector<Index> features{1, 3};
  const auto correction = [&] {
    const Regression both(columns, true);
    const CrossFit& regression = both.wanted;
    const MatrixXd left = regression.residuals({regression.fit(features, {0, 1})});
    // What the features take off the mean of the fold's first target.
    return columns.own.col(4).segment(50, 50).mean() - left.col(0).segment(50, 50).mean();
  };
  const VectorXd dependence = Regression(columns, true).wanted.fit(features, {0, 1}).dependence;
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

/// A function of the states of a run, with what is known of it without gradients.
struct Function {
  std::optional<std::size_t> coordinate;
  std::function<double(const double*)> value;
  double mean;
  std::function<double(double)> quantile;  ///< by probability
};

/// Root mean squares of error / MCSE of the mean and of all quantiles, over many runs.
struct Calibration {
  double mean = 0;
  double quantiles = 0;
  double gain = 0;  ///< least ratio of the plain to the sharpened squared error bar of the mean
};

Calibration calibration(const Function& function, int runs) {
  Calibration result;
  result.gain = std::numeric_limits<double>::infinity();
  double quantiles = 0;
  for (int r = 0; r < runs; ++r) {
    const NormalRun run(500, static_cast<std::uint64_t>(r));
    std::vector<std::vector<double>> values;
    std::vector<Series> series;
    for (const auto& chain : run.positions) {
      // In rows as long as those of the positions, so that only their position distinguishes them.
      auto& of_chain = values.emplace_back(chain.size());
      for (std::size_t n = 0; n < run.draws; ++n) {
        of_chain[4 * n] = function.value(chain.data() + 4 * n);
      }
    }
    for (const auto& chain : values) series.push_back({chain.data(), run.draws, 4});
    const ScalarStates scalar = known_scalar(series, function.coordinate);
    const SharpenResult sharpened = sharpen(run.states, std::vector<ScalarStates>{scalar});
    const Estimate& estimate = sharpened.scalars.front().estimate;
    const auto square = [](double x) { return x * x; };
    result.mean += square((estimate.mean - function.mean) / estimate.mcse_mean);
    result.gain = std::min(result.gain, square(scalar.known.mcse_mean / estimate.mcse_mean));
    for (const QuantileEstimate& quantile : estimate.quantiles) {
      result.quantiles +=
          square((quantile.value - function.quantile(quantile.probability)) / quantile.mcse);
      quantiles += 1;
    }
  }
  result.mean = std::sqrt(result.mean / runs);
  result.quantiles = std::sqrt(result.quantiles / quantiles);
  return result;
}

TEST(Sharpen, FunctionsOfOneAndOfSeveralCoordinatesAreHonest) {
  const CorrelatedNormal model = NormalRun(20).model;
  const double sd = std::sqrt(model.variance(0));
  const auto rising = [=](const double* x) { return std::exp(0.5 * x[0] / sd); };
  const auto falling = [=](const double* x) { return std::exp(-0.5 * x[0] / sd); };
  const auto square = [=](const double* x) { return x[0] * x[0] / (sd * sd); };
  const auto lognormal = [](double p) { return std::exp(0.5 * normal_quantile(p)); };
  const auto chi_squared = [](double p) { return std::pow(normal_quantile((1 + p) / 2), 2); };
  constexpr int runs = 60;
  // The variance of error / MCSE over 60 runs is below 1 + 6 sqrt(2 / 60) = 2.1 except with
  // probability 1e-6, if it is normal.
  const double limit = std::sqrt(2.1);
  for (const Function& function : {Function{0, rising, std::exp(0.125), lognormal},
                                   Function{0, falling, std::exp(0.125), lognormal},
                                   Function{std::nullopt, rising, std::exp(0.125), lognormal},
                                   Function{std::nullopt, square, 1, chi_squared},
                                   // It does not follow the coordinate that it names: this is
                                   // detected.
                                   Function{0, square, 1, chi_squared}}) {
    const Calibration seen = calibration(function, runs);
    EXPECT_LT(seen.mean, limit);
    EXPECT_LT(seen.quantiles, limit);
    EXPECT_GT(seen.gain, 10);
  }
}

// With the Stein check, the features of coordinates that functions use are computed as it passes
// them; without it, when a function asks for them.
TEST(Sharpen, FunctionsDoNotDependOnWhenTheirFeaturesAreComputed) {
  const NormalRun run(500, 1);
  std::vector<std::vector<double>> values;
  std::vector<Series> series;
  for (const auto& chain : run.positions) {
    auto& of_chain = values.emplace_back();
    for (std::size_t n = 0; n < run.draws; ++n) {
      of_chain.push_back(chain[4 * n] * chain[4 * n + 1] + chain[4 * n + 2]);
    }
  }
  for (const auto& chain : values) series.push_back({chain.data(), run.draws, 1});
  const std::vector<ScalarStates> scalars{known_scalar(series, std::nullopt)};
  SharpenSettings unchecked;
  unchecked.no_check = true;
  const Estimate later = sharpen(run.states, scalars, unchecked).scalars.front().estimate;
  const Estimate passing = sharpen(run.states, scalars, {}).scalars.front().estimate;
  EXPECT_LT(later.mcse_mean, 0.7 * scalars.front().known.mcse_mean);  // features were used
  EXPECT_EQ(passing.mean, later.mean);
  EXPECT_EQ(passing.mcse_mean, later.mcse_mean);
  EXPECT_EQ(passing.sd, later.sd);
  for (std::size_t t = 0; t < later.quantiles.size(); ++t) {
    EXPECT_EQ(passing.quantiles[t].value, later.quantiles[t].value);
    EXPECT_EQ(passing.quantiles[t].mcse, later.quantiles[t].mcse);
  }
}

// Where the kept states are all states, what the others add is 0 up to rounding, and rounding
// errors of a function with two values are a function of its value.
TEST(Sharpen, RoundingErrorsExplainNothing) {
  constexpr double threshold = 0.3;
  constexpr int runs = 20;
  Honesty mean;
  for (int r = 0; r < runs; ++r) {
    const NormalRun run(500, static_cast<std::uint64_t>(r));
    const double sd = std::sqrt(run.model.variance(0));
    std::vector<std::vector<double>> values;
    std::vector<std::vector<double>> first;
    std::vector<std::vector<double>> second;
    const double centre = 1 - normal_cdf(threshold);
    for (const auto& chain : run.positions) {
      values.emplace_back();
      first.emplace_back();
      second.emplace_back();
      for (std::size_t n = 0; n < run.draws; ++n) {
        const double value = chain[4 * n] > threshold * sd ? 1 : 0;
        values.back().push_back(value);
        first.back().push_back(value - centre);
        second.back().push_back((value - centre) * (value - centre));
      }
    }
    const auto series_of = [&](const std::vector<std::vector<double>>& chains) {
      std::vector<Series> series;
      for (const auto& chain : chains) series.push_back({chain.data(), run.draws, 1});
      return series;
    };
    const std::vector<Series> series = series_of(values);
    const std::vector<Series> firsts = series_of(first);
    const std::vector<Series> seconds = series_of(second);
    ScalarStates scalar = known_scalar(series, std::nullopt);
    scalar.plain = series;
    scalar.centre = centre;
    scalar.first = firsts;
    scalar.second = seconds;
    const SharpenResult sharpened = sharpen(run.states, std::vector<ScalarStates>{scalar});
    const Estimate& estimate = sharpened.scalars.front().estimate;
    mean.add(estimate.mean - centre, estimate.mcse_mean);
  }
  EXPECT_EQ(mean.complaint(1e-6, true), "");
}

TEST(Sharpen, TheErrorOfTheMeanDoesNotLowerTheSd) {
  constexpr int runs = 400;
  Honesty sd;
  Honesty about_the_estimated_mean;
  for (int r = 0; r < runs; ++r) {
    const ModesRun run(500, static_cast<std::uint64_t>(r));
    const std::vector<Series> series = run.first_coordinate();
    const ScalarStates scalar = known_scalar(series, 0);
    const SharpenResult sharpened = sharpen(run.states, std::vector<ScalarStates>{scalar});
    const Estimate& estimate = sharpened.scalars.front().estimate;
    const double truth = std::sqrt(run.model.variance(0));
    sd.add(estimate.sd - truth, estimate.mcse_sd);
    const double less = estimate.sd * estimate.sd - estimate.mcse_mean * estimate.mcse_mean;
    about_the_estimated_mean.add(std::sqrt(less) - truth, estimate.mcse_sd);
  }
  constexpr double false_alarms = 1e-6;
  const double limit = -normal_quantile(false_alarms / 2);
  EXPECT_LT(std::abs(sd.bias()), limit);
  EXPECT_EQ(sd.complaint(false_alarms, true), "");
  // What the same test says of the mean square of x less the squared estimate of the mean.
  EXPECT_GT(std::abs(about_the_estimated_mean.bias()), limit);
}

// Draws that weigh nothing are as good as left out, however wrong they are.
TEST(Sharpen, WeighsDrawsByTheirMasses) {
  constexpr std::size_t half = 400;
  ModesRun run(2 * half, 1);
  std::vector<double> masses;
  for (std::size_t n = 0; n < 2 * half; ++n) masses.push_back(n % 2 == 0 ? 3 : 0);
  SimpleRun heavy;
  heavy.draws = half;
  heavy.weights.assign(half, 1.0);
  for (std::size_t n = 0; n <= half; ++n) heavy.begins.push_back(n);
  for (std::size_t c = 0; c < run.chains; ++c) {
    auto& x = heavy.positions.emplace_back();
    auto& g = heavy.gradients.emplace_back();
    for (std::size_t n = 0; n < 2 * half; n += 2) {
      x.push_back(run.positions[c][n]);
      g.push_back(run.gradients[c][n]);
      run.positions[c][n + 1] += 10;
    }
  }
  for (std::size_t c = 0; c < run.chains; ++c) {
    run.states[c].masses = masses;
    heavy.states.push_back({heavy.positions[c], heavy.gradients[c], heavy.weights, heavy.begins});
  }
  const std::vector<Series> kept = heavy.first_coordinate();
  const ScalarStates of_kept = known_scalar(kept, 0);
  const std::vector<Series> all = run.first_coordinate();
  ScalarStates of_all = known_scalar(all, 0);
  of_all.known = of_kept.known;
  const auto sharpened = [](const SimpleRun& of, const ScalarStates& scalar) {
    return sharpen(of.states, std::vector<ScalarStates>{scalar}).scalars.front();
  };
  const SharpenedEstimate one = sharpened(heavy, of_kept);
  const SharpenedEstimate other = sharpened(run, of_all);
  ASSERT_NE(one.sd_set, FeatureSet::none);
  ASSERT_NE(other.sd_set, FeatureSet::none);
  const Estimate& expected = one.estimate;
  const Estimate& found = other.estimate;
  EXPECT_NEAR(found.mean, expected.mean, 0.5 * expected.mcse_mean);
  EXPECT_NEAR(found.sd, expected.sd, 0.5 * expected.mcse_sd);
  EXPECT_NEAR(found.mcse_mean / expected.mcse_mean, 1, 0.3);
  EXPECT_NEAR(found.mcse_sd / expected.mcse_sd, 1, 0.3);
  for (std::size_t q = 0; q < found.quantiles.size(); ++q) {
    EXPECT_NEAR(found.quantiles[q].value, expected.quantiles[q].value,
                0.5 * expected.quantiles[q].mcse);
    EXPECT_NEAR(found.quantiles[q].mcse / expected.quantiles[q].mcse, 1, 0.3);
  }
}

TEST(Sharpen, WantsOneMassPerDraw) {
  NormalRun run(100);
  const std::vector<double> few(99, 1.0);
  for (GradientStates& chain : run.states) chain.masses = few;
  const std::vector<Series> series = run.first_coordinate();
  EXPECT_THROW(sharpen(run.states, std::vector<ScalarStates>{known_scalar(series, 0)}), DataError);
}

// The square of a normal variable is most dense at 0: its lowest quantiles were found below 0 in
// three of these runs.
TEST(Sharpen, QuantilesStayAmongTheStates) {
  for (std::uint64_t replicate = 0; replicate < 20; ++replicate) {
    const NormalRun run(100, replicate);
    std::vector<std::vector<double>> squares;
    std::vector<Series> series;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const auto& chain : run.positions) {
      std::vector<double>& of_chain = squares.emplace_back();
      for (std::size_t n = 0; n < run.draws; ++n) {
        of_chain.push_back(chain[4 * n] * chain[4 * n]);
        least = std::min(least, of_chain.back());
        most = std::max(most, of_chain.back());
      }
    }
    for (const auto& chain : squares) series.push_back({chain.data(), run.draws, 1});
    const ScalarStates scalar = known_scalar(series, std::nullopt);
    const SharpenResult sharpened = sharpen(run.states, std::vector<ScalarStates>{scalar});
    for (const QuantileEstimate& quantile : sharpened.scalars.front().estimate.quantiles) {
      EXPECT_GE(quantile.value, least) << replicate << ' ' << quantile.probability;
      EXPECT_LE(quantile.value, most) << replicate << ' ' << quantile.probability;
    }
  }
}

TEST(Sharpen, TheErrorOfAQuantileIsComputedWhereItIsFound) {
  constexpr std::size_t upper = 6;
  constexpr double probability = 0.975;
  const double z = normal_quantile(probability);
  constexpr int runs = 20;
  double density = 0;
  for (int r = 0; r < runs; ++r) {
    const NormalRun run(500, static_cast<std::uint64_t>(r));
    const double sd = std::sqrt(run.model.variance(0));
    std::vector<std::vector<double>> values;
    std::vector<Series> series;
    for (const Series& chain : run.first_coordinate()) {
      auto& of_chain = values.emplace_back();
      for (std::size_t n = 0; n < run.draws; ++n) {
        of_chain.push_back(std::exp(0.5 * chain[n] / sd));
      }
    }
    for (const auto& chain : values) series.push_back({chain.data(), run.draws, 1});
    ScalarStates scalar = known_scalar(series);
    scalar.known.quantiles[upper].value = std::exp(0.5 * (z - 0.4));
    const SharpenResult sharpened = sharpen(run.states, std::vector<ScalarStates>{scalar});
    ASSERT_NE(sharpened.scalars.front().quantile_sets[upper], FeatureSet::none);
    const QuantileEstimate& found = sharpened.scalars.front().estimate.quantiles[upper];
    // The effective number of draws is of the probability, the error of the quantile.
    density += std::sqrt(probability * (1 - probability) / found.ess) / found.mcse / runs;
  }
  const double truth =
      std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) / (0.5 * std::exp(0.5 * z));
  // The difference quotient of a run rests on about 10 draws, so that the mean of 20 runs is known
  // to 7%; 35% is five times that. The density at the start is 2.4 times the true one.
  EXPECT_NEAR(density / truth, 1, 0.35);
}

TEST(Sharpen, BlocksAreNamesUpToTheFirstDotOrBracket) {
  const std::vector<std::string> names{"mu", "beta.1", "beta.2", "tau[1]", "tau[2]", "beta.3"};
  const std::vector<std::vector<std::size_t>> expected{{0}, {1, 2, 5}, {3, 4}};
  EXPECT_EQ(blocks_of(names), expected);
}

// The worst of n scores exceeds the limit with probability 1e-3 if each exceeds it with 1e-3 / n.
// Expected limits are from the inverse normal distribution function of Python's statistics module.
TEST(SteinCheck, LimitAllowsForTheNumberOfFeatures) {
  const NormalRun run(500);
  SharpenSettings settings;
  settings.check_only = true;
  // Four per coordinate: the fields 1 and z, and two thresholds.
  const SteinCheck without_blocks = sharpen(run.states, {}, settings).check;
  EXPECT_EQ(without_blocks.features, 16u);
  EXPECT_NEAR(without_blocks.limit, 4.0031675715, 1e-9);
  settings.blocks = {{0, 1, 2, 3}};
  const SteinCheck with_a_block = sharpen(run.states, {}, settings).check;
  EXPECT_EQ(with_a_block.features, 17u);
  EXPECT_NEAR(with_a_block.limit, 4.0174811889, 1e-9);
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
  // 0.2 expected at the stated rate of 1e-3; six or more have probability 8e-8.
  EXPECT_LT(fired, 6);

  NormalRun wrong(500);
  for (auto& chain : wrong.gradients) {
    for (std::size_t i = 1; i < chain.size(); i += 4) chain[i] += 0.3F;  // a shifted coordinate
  }
  EXPECT_FALSE(sharpen(wrong.states, {}, settings).check.passed());
}

}  // namespace
}  // namespace rehmc::sharpen_test
