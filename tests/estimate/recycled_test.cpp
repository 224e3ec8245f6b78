// Error bars of plain and recycled estimates: honest by simulation, NaN for degenerate input.
#include "rehmc/estimate/recycled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "tests/estimate/basic_diagnostics.hpp"

namespace rehmc::recycled_test {
namespace {

/// How the simulated sampler below moves, and what it returns.
struct Plan {
  std::size_t chains = 4;
  std::size_t draws = 300;
  std::size_t steps = 8;        ///< states of a draw
  std::size_t kept_every = 1;   ///< every n-th state is kept
  double correlation = 0.8;     ///< between neighbouring states
  bool random_weights = false;  ///< of the states within a draw, instead of equal ones
  bool random_length = false;   ///< from 1 to 2 * steps - 1 states, and as much mass (Theorem 2)
};

/// Trajectories cut from a stationary autoregression with normal states, each then transformed.
struct Trajectories {
  Plan plan;
  std::vector<std::vector<double>> first, second, mass, values, weights;
  std::vector<std::vector<std::size_t>> begins;
  std::vector<Series> first_view, second_view, mass_view;
  std::vector<KeptStates> kept_view;
  double sum = 0;  ///< over all states
  std::size_t count = 0;

  Trajectories(const Plan& how, std::uint32_t replicate,
               const std::function<double(double)>& transform)
      : plan(how) {
    for (std::uint32_t c = 0; c < plan.chains; ++c) {
      Stream stream({.seed = 2021, .chain = 100 * replicate + c}, Purpose::test);
      add_chain(stream, transform);
    }
    for (std::size_t c = 0; c < plan.chains; ++c) {
      first_view.push_back({first[c].data(), plan.draws, 1});
      second_view.push_back({second[c].data(), plan.draws, 1});
      mass_view.push_back({mass[c].data(), plan.draws, 1});
      kept_view.push_back({{values[c].data(), values[c].size(), 1}, weights[c], begins[c]});
    }
  }

  void add_chain(Stream& stream, const std::function<double(double)>& transform) {
    std::vector<double> means, squares, masses, kept, kept_weights;
    std::vector<std::size_t> starts{0};
    const double noise = std::sqrt(1 - plan.correlation * plan.correlation);
    double z = stream.normal();
    for (std::size_t i = 0; i < plan.draws; ++i) {
      const std::size_t length =
          plan.random_length ? 1 + stream.below(2 * plan.steps - 1) : plan.steps;
      double total = 0, one = 0, two = 0;
      for (std::size_t k = 0; k < length; ++k) {
        z = plan.correlation * z + noise * stream.normal();
        const double x = transform(z);
        const double weight = plan.random_weights ? stream.exponential() : 1.0;
        total += weight;
        one += weight * (x - centre);
        two += weight * (x - centre) * (x - centre);
        sum += x;
        ++count;
        if (k % plan.kept_every == 0) {
          kept.push_back(x);
          kept_weights.push_back(weight);
        }
      }
      means.push_back(one / total);
      squares.push_back(two / total);
      masses.push_back(static_cast<double>(length));
      starts.push_back(kept.size());
    }
    first.push_back(means);
    second.push_back(squares);
    mass.push_back(masses);
    values.push_back(kept);
    weights.push_back(kept_weights);
    begins.push_back(starts);
  }

  RecycledDraws view() const {
    RecycledDraws draws{centre, first_view, second_view, kept_view, {}};
    if (plan.random_length) draws.mass = mass_view;
    return draws;
  }

  static constexpr double centre = 0.3;
};

/// The truth about a transform of a standard normal.
struct Target {
  std::function<double(double)> transform;
  double mean, sd, upper;  ///< upper: the 97.5% quantile
};

Target normal_target() {
  return {[](double z) { return z; }, 0, 1, normal_quantile(0.975)};
}

/// The distribution with log density y - exp(y): the logarithm of an exponential variable, skewed
/// to the left.
Target skewed_target() {
  return {[](double z) { return std::log(-std::log(normal_cdf(-z))); }, -std::numbers::egamma,
          std::numbers::pi / std::sqrt(6.0), std::log(-std::log(0.025))};
}

/// Mean squares of error / MCSE over replicates, and mean ESSs.
struct Calibration {
  double mean = 0, sd = 0, upper = 0;
  double naive_mean =
      0;  ///< with the error bar that all states would have if they were independent
  double ess_mean = 0, ess_sd = 0;
};

Calibration calibrate(const Plan& plan, const Target& target, std::size_t replicates) {
  Calibration result;
  const auto add = [&](double& sum, double value) {
    sum += value / static_cast<double>(replicates);
  };
  const std::array<double, 1> probability{0.975};
  for (std::uint32_t r = 0; r < replicates; ++r) {
    const Trajectories trajectories(plan, r, target.transform);
    const Estimate estimate = recycled_estimate(trajectories.view(), probability);
    add(result.mean, std::pow((estimate.mean - target.mean) / estimate.mcse_mean, 2));
    add(result.sd, std::pow((estimate.sd - target.sd) / estimate.mcse_sd, 2));
    add(result.upper,
        std::pow((estimate.quantiles[0].value - target.upper) / estimate.quantiles[0].mcse, 2));
    const double naive = estimate.sd / std::sqrt(static_cast<double>(trajectories.count));
    add(result.naive_mean, std::pow((estimate.mean - target.mean) / naive, 2));
    add(result.ess_mean, estimate.ess_mean);
    add(result.ess_sd, estimate.ess_sd);
  }
  return result;
}

/// R honest ratios have a mean square of chi-square(R) / R, within 1 +- 4 sqrt(2 / R) except once
/// in 10^4 (both sides, R = 500). An MCSE is itself an estimate, and its noise makes the mean
/// square of such ratios a little larger, as in Student's t: by at most 9% at these sizes (skewed
/// law, sd; 6000 replicates; the mean 0.4%, the quantile up to 8%), so 10% are added above.
constexpr std::size_t replicates = 500;
const double margin = 4 * std::sqrt(2.0 / replicates);
void expect_honest(double mean_square) {
  EXPECT_GT(mean_square, 1 - margin);
  EXPECT_LT(mean_square, 1.1 + margin);
}

class RecycledHonesty : public testing::TestWithParam<Plan> {};

TEST_P(RecycledHonesty, ErrorsAreAsLargeAsStated) {
  for (const Target& target : {normal_target(), skewed_target()}) {
    const auto calibration = calibrate(GetParam(), target, replicates);
    expect_honest(calibration.mean);
    expect_honest(calibration.sd);
    expect_honest(calibration.upper);
    // The control: the states of one draw are not independent, which this test detects.
    EXPECT_GT(calibration.naive_mean, 1 + 5 * margin);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, RecycledHonesty,
                         testing::Values(Plan{}, Plan{.kept_every = 3, .random_weights = true},
                                         Plan{.random_length = true}));

TEST(RecycledEstimate, EssIsThatOfTheLongChain) {
  // All states of all draws are one autoregression per chain, so that the ESS is known: S (1 - c) /
  // (1 + c) for the mean, and for squares, whose correlation is c^2, alike. One estimate has a
  // standard error of 10 to 15%, the average of 200 about 1%: six of them are allowed, with false
  // alarms below 1e-8 unless the estimate is biased.
  const Plan plan{.draws = 500};
  const auto calibration = calibrate(plan, normal_target(), 200);
  const double states = 4 * 500 * 8;
  const double c = plan.correlation;
  EXPECT_NEAR(calibration.ess_mean / (states * (1 - c) / (1 + c)), 1, 0.06);
  EXPECT_NEAR(calibration.ess_sd / (states * (1 - c * c) / (1 + c * c)), 1, 0.06);
}

TEST(RecycledEstimate, MassesPoolAllStates) {
  const Trajectories trajectories({.random_length = true}, 0, skewed_target().transform);
  const Estimate pooled = recycled_estimate(trajectories.view());
  EXPECT_NEAR(pooled.mean, trajectories.sum / static_cast<double>(trajectories.count), 1e-12);
  std::vector<double> all;
  for (const auto& chain : trajectories.values) all.insert(all.end(), chain.begin(), chain.end());
  std::sort(all.begin(), all.end());
  for (const auto& quantile : pooled.quantiles) {
    const auto below = std::upper_bound(all.begin(), all.end(), quantile.value) - all.begin();
    EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(all.size()), quantile.probability,
                1e-3);
  }
}

TEST(RecycledEstimate, SeriesAreThoseOfTheFormulas) {
  // Everything computed by hand, with weights within draws and masses of draws.
  const Plan plan{.random_weights = true, .random_length = true};
  const Trajectories trajectories(plan, 9, skewed_target().transform);
  const std::array<double, 1> probability{0.9};
  const Estimate estimate = recycled_estimate(trajectories.view(), probability);
  const double quantile = estimate.quantiles[0].value;
  const double count = static_cast<double>(plan.chains * plan.draws);

  std::vector<std::vector<double>> means(plan.chains), below(plan.chains);
  double total = 0, mean = 0, share = 0;
  for (std::size_t c = 0; c < plan.chains; ++c) {
    for (std::size_t i = 0; i < plan.draws; ++i) {
      double weight = 0, first = 0, indicator = 0;
      for (std::size_t k = trajectories.begins[c][i]; k < trajectories.begins[c][i + 1]; ++k) {
        weight += trajectories.weights[c][k];
        first += trajectories.weights[c][k] * trajectories.values[c][k];
        if (trajectories.values[c][k] <= quantile) indicator += trajectories.weights[c][k];
      }
      means[c].push_back(first / weight);
      below[c].push_back(indicator / weight);
      total += trajectories.mass[c][i];
      mean += trajectories.mass[c][i] * means[c][i];
      share += trajectories.mass[c][i] * below[c][i];
    }
  }
  mean /= total;
  share /= total;
  std::vector<Series> mean_series, below_series;
  for (std::size_t c = 0; c < plan.chains; ++c) {
    for (std::size_t i = 0; i < plan.draws; ++i) {
      const double mass = trajectories.mass[c][i] / (total / count);
      means[c][i] = mass * (means[c][i] - mean);
      below[c][i] = mass * (below[c][i] - share);
    }
    mean_series.push_back({means[c].data(), plan.draws, 1});
    below_series.push_back({below[c].data(), plan.draws, 1});
  }
  EXPECT_NEAR(estimate.mean, mean, 1e-12);
  EXPECT_NEAR(estimate.mcse_mean, mcse_mean(mean_series), 1e-12);
  EXPECT_NEAR(estimate.ess_mean, std::pow(estimate.sd / estimate.mcse_mean, 2), 1e-8 * count);
  EXPECT_NEAR(share, 0.9, 1e-3);
  const double variance = share * (1 - share) * count / (count - 1);
  EXPECT_NEAR(estimate.quantiles[0].ess, variance / std::pow(mcse_mean(below_series), 2),
              1e-8 * count);
}

TEST(RecycledEstimate, OneStatePerDrawGivesThePlainEstimate) {
  const Trajectories trajectories({.steps = 1}, 1, skewed_target().transform);
  std::vector<Series> chains;
  for (const auto& chain : trajectories.values) chains.push_back({chain.data(), chain.size(), 1});
  const Estimate plain = plain_estimate(chains);
  const Estimate recycled = recycled_estimate(trajectories.view());
  const auto expect_same = [](double a, double b) { EXPECT_NEAR(a, b, 1e-10 * std::abs(b)); };
  expect_same(recycled.mean, plain.mean);
  expect_same(recycled.mcse_mean, plain.mcse_mean);
  expect_same(recycled.ess_mean, plain.ess_mean);
  expect_same(recycled.sd, plain.sd);
  expect_same(recycled.mcse_sd, plain.mcse_sd);
  ASSERT_EQ(recycled.quantiles.size(), standard_probabilities.size());
  for (std::size_t i = 0; i < standard_probabilities.size(); ++i) {
    EXPECT_EQ(recycled.quantiles[i].probability, standard_probabilities[i]);
    expect_same(recycled.quantiles[i].value, plain.quantiles[i].value);
    expect_same(recycled.quantiles[i].ess, plain.quantiles[i].ess);
    // Two estimates of one density from the same draws: not equal, but not far apart.
    EXPECT_NEAR(recycled.quantiles[i].mcse / plain.quantiles[i].mcse, 1, 0.6);
  }
}

TEST(RecycledEstimate, AnyCentreWithinReasonGivesTheSame) {
  const Trajectories trajectories({}, 2, skewed_target().transform);
  const Estimate expected = recycled_estimate(trajectories.view());
  // Moves the centre by 50: first and second moments change, estimates do not.
  auto moved = trajectories;
  for (std::size_t c = 0; c < moved.first.size(); ++c) {
    for (std::size_t i = 0; i < moved.first[c].size(); ++i) {
      moved.second[c][i] += -2 * 50 * moved.first[c][i] + 50 * 50;
      moved.first[c][i] -= 50;
    }
    moved.first_view[c].data = moved.first[c].data();
    moved.second_view[c].data = moved.second[c].data();
  }
  RecycledDraws draws = trajectories.view();
  draws.centre += 50;
  draws.first = moved.first_view;
  draws.second = moved.second_view;
  const Estimate estimate = recycled_estimate(draws);
  EXPECT_NEAR(estimate.mean, expected.mean, 1e-10);
  EXPECT_NEAR(estimate.mcse_mean, expected.mcse_mean, 1e-10);
  EXPECT_NEAR(estimate.sd, expected.sd, 1e-10);
  EXPECT_NEAR(estimate.mcse_sd, expected.mcse_sd, 1e-10);
  EXPECT_NEAR(estimate.ess_sd / expected.ess_sd, 1, 1e-8);
}

TEST(RecycledEstimate, WithoutKeptStatesNoQuantiles) {
  const Trajectories trajectories({}, 3, normal_target().transform);
  RecycledDraws draws = trajectories.view();
  const Estimate with = recycled_estimate(draws);
  draws.kept = {};
  const Estimate without = recycled_estimate(draws);
  EXPECT_TRUE(without.quantiles.empty());
  EXPECT_TRUE(std::isnan(without.ess_sd));
  EXPECT_EQ(without.mean, with.mean);
  EXPECT_EQ(without.mcse_sd, with.mcse_sd);
}

TEST(PlainEstimate, CollectsTheDiagnosticsOfConvergence) {
  const Trajectories trajectories({.draws = 300, .steps = 1, .correlation = 0.6}, 4,
                                  skewed_target().transform);
  std::vector<Series> chains;
  for (const auto& chain : trajectories.values) chains.push_back({chain.data(), chain.size(), 1});
  const Estimate estimate = plain_estimate(chains);
  EXPECT_EQ(estimate.condition, DrawsCondition::ordinary);
  EXPECT_DOUBLE_EQ(estimate.mcse_mean, mcse_mean(chains));
  EXPECT_DOUBLE_EQ(estimate.ess_mean, ess_mean(chains));
  EXPECT_DOUBLE_EQ(estimate.mcse_sd, mcse_sd(chains));
  EXPECT_DOUBLE_EQ(estimate.ess_sd, ess_sd(chains));
  for (const auto& quantile : estimate.quantiles) {
    EXPECT_DOUBLE_EQ(quantile.ess, basic::ess_quantile(chains, quantile.probability));
    EXPECT_DOUBLE_EQ(quantile.mcse, mcse_quantile(chains, quantile.probability));
  }
}

void expect_no_error_bars(const Estimate& estimate) {
  EXPECT_TRUE(std::isnan(estimate.mcse_mean));
  EXPECT_TRUE(std::isnan(estimate.ess_mean));
  EXPECT_TRUE(std::isnan(estimate.mcse_sd));
  EXPECT_TRUE(std::isnan(estimate.ess_sd));
  for (const auto& quantile : estimate.quantiles) {
    EXPECT_TRUE(std::isnan(quantile.mcse));
    EXPECT_TRUE(std::isnan(quantile.ess));
  }
}

/// Puts chain 1 at one point, with the rounding that weighted means of equal numbers have.
Trajectories with_stuck_chain(double place) {
  Trajectories result({.draws = 100}, 5, normal_target().transform);
  for (std::size_t i = 0; i < 100; ++i) {
    const double rounding = 1 + 2e-16 * static_cast<double>(i % 3);
    result.first[1][i] = (place - result.centre) * rounding;
    result.second[1][i] = (place - result.centre) * (place - result.centre);
  }
  std::fill(result.values[1].begin(), result.values[1].end(), place);
  return result;
}

TEST(Estimates, AStuckChainGetsNoEssWhereverItIs) {
  for (const double place : {0.01, 4.0}) {
    const auto trajectories = with_stuck_chain(place);
    const Estimate recycled = recycled_estimate(trajectories.view());
    EXPECT_EQ(recycled.condition, DrawsCondition::stuck);
    EXPECT_TRUE(std::isfinite(recycled.mean));
    EXPECT_TRUE(std::isfinite(recycled.quantiles[3].value));
    expect_no_error_bars(recycled);

    std::vector<Series> chains;
    for (const auto& chain : trajectories.values) chains.push_back({chain.data(), 100, 8});
    const Estimate plain = plain_estimate(chains);
    EXPECT_EQ(plain.condition, DrawsCondition::stuck);
    expect_no_error_bars(plain);
  }
}

/// Chain 1 stays at one point for its last draws. All proposals are rejected there: their states
/// are in the trajectory, but with tiny weights, so that no two trajectories have quite the same
/// mean.
Trajectories with_staying_chain(double place, std::size_t draws, std::size_t stays) {
  Trajectories result({.draws = draws}, 5, normal_target().transform);
  Stream stream({.seed = 9}, Purpose::test);
  for (std::size_t i = draws - stays; i < draws; ++i) {
    double first = place - result.centre;
    double second = first * first;
    for (std::size_t k = result.begins[1][i]; k < result.begins[1][i + 1]; ++k) {
      const bool start = k == result.begins[1][i];
      result.weights[1][k] = start ? 1 : 1e-5;
      result.values[1][k] = start ? place : place - 1e-3 * stream.exponential();
      if (start) continue;
      first += 1e-5 * (result.values[1][k] - place);
      second += 1e-5 * (std::pow(result.values[1][k] - result.centre, 2) - second);
    }
    result.first[1][i] = first;
    result.second[1][i] = second;
  }
  return result;
}

Estimate plain_of(const Trajectories& trajectories) {
  std::vector<Series> chains;
  for (const auto& chain : trajectories.values) {
    chains.push_back({chain.data(), trajectories.plan.draws, 8});
  }
  return plain_estimate(chains);
}

// A tenth of all draws or more at one point pin a quantile to it. Its error bar would be the spread
// of the rejected states, here 1e-3 of the true error.
TEST(Estimates, AChainThatStaysOnOneValueGetsNoErrorBars) {
  for (const std::size_t stays : {1000, 600, 100}) {
    const Trajectories trajectories = with_staying_chain(2.22, 1000, stays);
    const Estimate recycled = recycled_estimate(trajectories.view());
    EXPECT_NEAR(recycled.quantiles.back().value, 2.22, 0.05);
    EXPECT_EQ(recycled.condition, DrawsCondition::stuck) << stays;
    expect_no_error_bars(recycled);
    const Estimate plain = plain_of(trajectories);
    EXPECT_EQ(plain.condition, DrawsCondition::stuck) << stays;
    expect_no_error_bars(plain);
  }
  EXPECT_EQ(recycled_estimate(with_staying_chain(2.22, 50, 10).view()).condition,
            DrawsCondition::stuck);
}

TEST(Estimates, AChainThatStaysForAFewDrawsIsOrdinary) {
  for (const auto& [draws, stays] : {std::pair{1000, 99}, {50, 9}}) {
    const Trajectories trajectories =
        with_staying_chain(2.22, static_cast<std::size_t>(draws), static_cast<std::size_t>(stays));
    const Estimate recycled = recycled_estimate(trajectories.view());
    EXPECT_EQ(recycled.condition, DrawsCondition::ordinary) << stays;
    EXPECT_TRUE(std::isfinite(recycled.quantiles[3].mcse));
    EXPECT_EQ(plain_of(trajectories).condition, DrawsCondition::ordinary) << stays;
  }
}

// A chain of counts may stay on one of them for long; other chains, or it itself, have it as well.
TEST(Estimates, ADiscreteChainThatStaysForLongIsOrdinary) {
  const Trajectories trajectories({.draws = 1000, .correlation = 0.999}, 6,
                                  [](double z) { return std::floor(z / 2 + 1); });
  std::size_t longest = 0;
  for (const auto& chain : trajectories.values) {
    for (std::size_t i = 1, run = 1; i < 1000; ++i) {
      run = chain[8 * i] == chain[8 * (i - 1)] ? run + 1 : 1;
      longest = std::max(longest, run);
    }
  }
  ASSERT_GT(longest, 100U) << "the case is as described";
  EXPECT_EQ(recycled_estimate(trajectories.view()).condition, DrawsCondition::ordinary);
  EXPECT_EQ(plain_of(trajectories).condition, DrawsCondition::ordinary);
}

TEST(Estimates, ConstantShortAndInfiniteDraws) {
  struct Case {
    std::vector<double> draws;
    DrawsCondition condition;
    double mean;
  };
  for (const Case& one :
       {Case{{2, 2, 2, 2, 2}, DrawsCondition::constant, 2},
        Case{{1, 2, 3}, DrawsCondition::too_short, 2}, Case{{7}, DrawsCondition::too_short, 7},
        Case{{}, DrawsCondition::too_short, std::nan("")},
        Case{{1, 2, infinity, 4, 5}, DrawsCondition::not_finite, infinity},
        Case{{1, 2, std::nan(""), 4, 5}, DrawsCondition::not_finite, std::nan("")}}) {
    std::vector<double> squares;
    std::vector<std::size_t> begins{0};
    for (const double x : one.draws) {
      squares.push_back(x * x);
      begins.push_back(squares.size());
    }
    const std::vector<Series> first{{one.draws.data(), one.draws.size(), 1}};
    const std::vector<Series> second{{squares.data(), squares.size(), 1}};
    const std::vector<KeptStates> kept{{first[0], {}, begins}};
    for (const Estimate& estimate :
         {plain_estimate(first), recycled_estimate({0, first, second, kept, {}})}) {
      EXPECT_EQ(estimate.condition, one.condition);
      if (std::isnan(one.mean)) {
        EXPECT_TRUE(std::isnan(estimate.mean));
        EXPECT_TRUE(std::isnan(estimate.quantiles[3].value));
      } else {
        EXPECT_EQ(estimate.mean, one.mean);
        EXPECT_TRUE(std::isfinite(estimate.quantiles[3].value));
      }
      expect_no_error_bars(estimate);
    }
  }
}

TEST(RecycledEstimate, DiscreteStatesWhoseUpperQuantileIsTheirMaximum) {
  // Every state lies at or below the quantile, so the series of indicators is constant except for
  // rounding.
  const Trajectories trajectories({.random_weights = true}, 6,
                                  [](double z) { return z > 1 ? 1.0 : 0.0; });
  const Estimate estimate = recycled_estimate(trajectories.view());
  EXPECT_EQ(estimate.condition, DrawsCondition::ordinary);
  EXPECT_EQ(estimate.quantiles.back().value, 1);
  EXPECT_TRUE(std::isnan(estimate.quantiles.back().ess));
  EXPECT_EQ(estimate.quantiles.front().value, 0);
  EXPECT_EQ(estimate.quantiles[1].mcse, 0);
  EXPECT_GT(estimate.ess_mean, 100);
}

TEST(RecycledEstimate, ExtremeProbabilitiesHaveNoErrorBar) {
  const Trajectories trajectories({}, 7, normal_target().transform);
  const Estimate estimate = recycled_estimate(trajectories.view(), std::vector<double>{0, 1});
  EXPECT_LT(estimate.quantiles[0].value, -3);
  EXPECT_GT(estimate.quantiles[1].value, 3);
  EXPECT_TRUE(std::isnan(estimate.quantiles[0].mcse));
  EXPECT_TRUE(std::isnan(estimate.quantiles[1].ess));
}

TEST(RecycledEstimate, RejectsInconsistentInput) {
  const Trajectories good({.draws = 10}, 8, normal_target().transform);
  const auto refused = [](const RecycledDraws& draws) {
    EXPECT_THROW(recycled_estimate(draws), DataError);
  };
  auto draws = good.view();
  draws.second = draws.second.first(3);
  refused(draws);

  draws = good.view();
  draws.kept = draws.kept.first(3);
  refused(draws);

  draws = good.view();
  auto kept = good.kept_view;
  kept[2].begins = kept[2].begins.first(10);
  draws.kept = kept;
  refused(draws);

  kept = good.kept_view;
  auto begins = good.begins[0];
  begins[4] = 1000;  // beyond the values
  kept[0].begins = begins;
  refused(draws);

  kept = good.kept_view;
  begins = good.begins[0];
  begins[4] = begins[5];  // draw 4 has no states
  kept[0].begins = begins;
  refused(draws);

  kept = good.kept_view;
  auto weights = good.weights[1];
  weights[7] = -1;
  kept[1].weights = weights;
  refused(draws);

  draws = good.view();
  draws.mass = std::span(good.mass_view).first(2);
  refused(draws);
  auto mass = good.mass;
  auto mass_view = good.mass_view;
  mass[0][3] = std::nan("");
  mass_view[0].data = mass[0].data();
  draws.mass = mass_view;
  refused(draws);

  EXPECT_THROW(recycled_estimate(good.view(), std::vector<double>{0.5, 2}), ConfigError);
  EXPECT_THROW(plain_estimate(good.first_view, std::vector<double>{-1}), ConfigError);
}

}  // namespace
}  // namespace rehmc::recycled_test
