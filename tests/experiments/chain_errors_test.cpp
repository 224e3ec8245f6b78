// Sums of arms give the moments and quantiles of what they saw; the jackknife gives known errors.
#include "experiments/chain_errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "experiments/jackknife.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc::experiments::chain_errors_test {
namespace {

/// A sample of two parameters, the second ten times as wide and far from zero.
struct Sample {
  explicit Sample(std::size_t count) : values(2) {
    Stream stream({4, 0, 0}, Purpose::test);
    for (std::size_t n = 0; n < count; ++n) {
      values[0].push_back(stream.normal());
      values[1].push_back(100 + 10 * stream.normal());
    }
  }
  std::vector<std::vector<double>> values;
};

const std::vector<double> sds{1, 10};
const std::vector<double> centre{0.1, 99};
const std::vector<double> upper{1.96, 119.6};

TEST(Bins, QuantileIsThatOfTheSortedSampleToWithinABin) {
  // With 40000 values a bin of 0.04 sds holds about a hundred around the quantile, evenly but for
  // chance: interpolated, it is off by a small part of a bin at most.
  const Sample sample(40'000);
  const Bins bins(upper, sds);
  std::vector<double> counts(2 * Bins::count);
  Places places;
  for (std::size_t n = 0; n < sample.values[0].size(); ++n) {
    const double state[] = {sample.values[0][n], sample.values[1][n]};
    places.find(bins, state);
    for (const std::uint32_t place : places.found()) ++counts[place];
  }
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> sorted = sample.values[i];
    std::sort(sorted.begin(), sorted.end());
    const double expected = sorted[static_cast<std::size_t>(upper_probability * 40'000)];
    const double found = bins.quantile(i, &counts[i * Bins::count], 40'000);
    EXPECT_NEAR(found, expected, 0.25 * Bins::width * sds[i]);
  }
}

TEST(Bins, QuantileIsExactForEvenCounts) {
  // 1000 in all, 50 in the last bin: half of it is above.
  const Bins bins(std::vector<double>{2.0}, std::vector<double>{1.0});
  std::vector<double> counts(Bins::count);
  counts.back() = 50;
  const double high = bins.low[0] + Bins::count * Bins::width;
  EXPECT_NEAR(bins.quantile(0, counts.data(), 1000), high - Bins::width / 2, 1e-12);
  // 25 there and 100 in the one below: at their border, from either side.
  counts.back() = 25;
  counts[Bins::count - 2] = 100;
  EXPECT_NEAR(bins.quantile(0, counts.data(), 1000), high - Bins::width, 1e-12);
  // A quarter of the 20 that are still above comes from the bin below.
  counts.back() = 5;
  EXPECT_NEAR(bins.quantile(0, counts.data(), 1000), high - Bins::width * 1.2, 1e-12);
  // Too few in all bins: the quantile is below them.
  counts.assign(Bins::count, 0);
  counts[3] = 10;
  EXPECT_EQ(bins.quantile(0, counts.data(), 1000), bins.low[0]);
}

TEST(Places, LowValuesHaveNoneAndHighOnesTheLast) {
  const Bins bins(upper, sds);
  Places places;
  const double low_and_high[] = {-3, 1000};
  places.find(bins, low_and_high);
  ASSERT_EQ(places.found().size(), 1U);
  EXPECT_EQ(places.found()[0], 2 * Bins::count - 1);
  const double inside[] = {bins.low[0] + 2.5 * Bins::width, bins.low[1] + 0.5 * Bins::width * 10};
  places.find(bins, inside);
  ASSERT_EQ(places.found().size(), 2U);
  EXPECT_EQ(places.found()[0], 2U);
  EXPECT_EQ(places.found()[1], Bins::count);
}

TEST(ArmSums, EstimatesAreTheWeightedMomentsOfWhatArmsUse) {
  // Trajectories of two states with the weights 0.25 and 0.75; the chain always goes to the first.
  const Sample sample(2000);
  const Bins bins(upper, sds);
  ArmShares shares({{Family::plain, 1}, {Family::all, 0}});
  ArmSums sums(2, centre, bins);
  const double weights[] = {0.25, 0.75};
  const std::vector<WeightedState> states{{{}, weights[0]}, {{}, weights[1]}};
  for (std::size_t n = 0; n < 2000; n += 2) {
    const double first[] = {sample.values[0][n], sample.values[1][n]};
    const double second[] = {sample.values[0][n + 1], sample.values[1][n + 1]};
    const std::vector<std::span<const double>> views{first, second};
    shares.share({.states = states, .steps = 1}, {1, 0, n});
    sums.add(views, shares);
  }
  for (std::size_t arm = 0; arm < 2; ++arm) {
    std::vector<double> mean(2);
    std::vector<double> variance(2);
    sums.estimate(arm, Statistic::mean, mean);
    sums.estimate(arm, Statistic::variance, variance);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto average = [&](auto&& f) {
        double sum = 0;
        for (std::size_t n = 0; n < 2000; ++n) {
          const double weight = arm == 1 ? weights[n % 2] : n % 2 == 0 ? 1 : 0;
          sum += weight * f(sample.values[i][n]) / 1000;
        }
        return sum;
      };
      const double expected = average([](double x) { return x; });
      // Distances are rounded to floats: 6e-8 of a few sds, at random. The smallest Monte Carlo
      // errors in the studies are several hundred times as large.
      EXPECT_NEAR(mean[i], expected, 1e-7 * sds[i]);
      EXPECT_NEAR(variance[i], average([&](double x) { return (x - expected) * (x - expected); }),
                  1e-6 * sds[i] * sds[i]);
    }
  }
}

TEST(ArmSums, WeighDrawsByTheirMass) {
  // Draws of one state each with masses 1 and 3: as if the second came three times.
  const Bins bins(upper, sds);
  ArmShares shares({{Family::plain, 1}, {Family::all, 0}});
  ArmSums sums(2, centre, bins);
  const std::vector<WeightedState> states{{{}, 1}};
  const double near[] = {centre[0], centre[1]};
  const double far[] = {centre[0] + 4 * sds[0], centre[1] - 4 * sds[1]};
  for (const auto& [x, mass] : {std::pair{near, 1.0}, std::pair{far, 3.0}}) {
    const std::vector<std::span<const double>> views{{x, 2}};
    shares.share({.states = states, .steps = 1, .mass = mass}, {1, 0, 0});
    sums.add(views, shares);
  }
  std::vector<double> mean(2);
  for (const auto& [arm, share] : {std::pair{0U, 0.5}, std::pair{1U, 0.75}}) {
    sums.estimate(arm, Statistic::mean, mean);
    EXPECT_NEAR(mean[0], centre[0] + 4 * share * sds[0], 1e-6);
    EXPECT_NEAR(mean[1], centre[1] - 4 * share * sds[1], 1e-6 * sds[1]);
    std::vector<double> variance(2);
    sums.estimate(arm, Statistic::variance, variance);
    EXPECT_NEAR(variance[0], 16 * share * (1 - share) * sds[0] * sds[0], 1e-5);
  }
  EXPECT_EQ(sums.mass(0), 2);
  EXPECT_EQ(sums.mass(1), 4);
}

/// Trajectories of three states with the weights 1/2, 1/4 and 1/4, whose sums have no rounding, in
/// 150 dimensions: parameters for two tiles and a part of a third, states for two waiting rooms.
struct ManyParameters {
  static constexpr std::size_t parameters = 150;
  static constexpr std::size_t draws = 800;

  ManyParameters()
      : mean(parameters), bins(std::vector(parameters, 1.96), std::vector(parameters, 1.0)) {
    Stream stream({5, 0, 0}, Purpose::test);
    for (std::size_t s = 0; s < 3 * draws; ++s) {
      for (double& x : values.emplace_back(parameters)) x = stream.normal();
    }
  }
  /// `look(n)` is called after draw n.
  template <class Look>
  void add_to(ArmSums& sums, Look&& look) const {
    ArmShares shares({{Family::plain, 1}, {Family::all, 0}});
    for (std::size_t n = 0; n < draws; ++n) {
      const std::vector<std::span<const double>> views{values[3 * n], values[3 * n + 1],
                                                       values[3 * n + 2]};
      shares.share({.states = states, .next = n % 3, .steps = 2}, {1, 0, n});
      sums.add(views, shares);
      look(n);
    }
  }

  std::vector<double> mean;
  Bins bins;
  std::vector<WeightedState> states{{{}, 0.5}, {{}, 0.25}, {{}, 0.25}};
  std::vector<std::vector<double>> values;
};

TEST(ArmSums, QuantilesAreThoseOfAllStatesThatWaited) {
  const ManyParameters sample;
  ArmSums sums(2, sample.mean, sample.bins);
  sample.add_to(sums, [](std::size_t) {});
  Places places;
  std::vector<double> plain(ManyParameters::parameters * Bins::count);
  std::vector<double> all(plain.size());
  for (std::size_t s = 0; s < sample.values.size(); ++s) {
    places.find(sample.bins, sample.values[s]);
    for (const std::uint32_t place : places.found()) {
      all[place] += sample.states[s % 3].weight;
      plain[place] += s / 3 % 3 == s % 3;
    }
  }
  std::vector<double> found(ManyParameters::parameters);
  for (const auto& [arm, counts] : {std::pair{0U, &plain}, std::pair{1U, &all}}) {
    sums.estimate(arm, Statistic::quantile, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i],
                sample.bins.quantile(i, &(*counts)[i * Bins::count], ManyParameters::draws))
          << arm << ' ' << i;
    }
  }
}

TEST(ArmSums, EstimatesOnTheWayChangeNothing) {
  const ManyParameters sample;
  ArmSums straight(2, sample.mean, sample.bins);
  ArmSums watched(2, sample.mean, sample.bins);
  std::vector<double> expected(ManyParameters::parameters);
  std::vector<double> found(ManyParameters::parameters);
  sample.add_to(straight, [](std::size_t) {});
  sample.add_to(watched, [&](std::size_t n) {
    if (n % 7 == 0) watched.estimate(1, Statistic::quantile, found);
  });
  for (const std::size_t arm : {0, 1}) {
    straight.estimate(arm, Statistic::quantile, expected);
    watched.estimate(arm, Statistic::quantile, found);
    EXPECT_EQ(found, expected);
  }
}

TEST(Jackknife, ErrorOfAMeanIsItsStandardError) {
  const std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto found = jackknife(values.size(), [&](std::size_t left_out) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == left_out) continue;
      sum += values[i];
      ++count;
    }
    return std::vector<double>{sum / count, 7};
  });
  EXPECT_NEAR(found[0].value, mean, 1e-12);
  EXPECT_NEAR(found[0].error, std::sqrt(squares / (n - 1) / n), 1e-12);
  EXPECT_EQ(found[1].value, 7);
  EXPECT_EQ(found[1].error, 0);
}

TEST(Jackknife, ErrorOfARatioIsHonest) {
  // log2 of a ratio of mean squares of 20 groups of 10 normals each: by the delta method its
  // variance is 2 * 2 / 200 / log(2)^2. Over 400 repetitions the mean of the squared errors has
  // itself an error of about 3%; 15% is five of them (1e-6 false alarms).
  constexpr std::size_t groups = 20;
  Stream stream({8, 0, 0}, Purpose::test);
  double sum = 0;
  for (int repetition = 0; repetition < 400; ++repetition) {
    std::vector<double> above(groups);
    std::vector<double> below(groups);
    for (std::size_t g = 0; g < groups; ++g) {
      for (int k = 0; k < 10; ++k) {
        const double a = stream.normal();
        const double b = stream.normal();
        above[g] += a * a;
        below[g] += b * b;
      }
    }
    const auto found = jackknife(groups, [&](std::size_t left_out) {
      double a = 0;
      double b = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        if (g == left_out) continue;
        a += above[g];
        b += below[g];
      }
      return std::vector<double>{std::log2(a / b)};
    });
    sum += found[0].error * found[0].error / 400;
  }
  const double expected = 4.0 / 200 / (std::log(2.0) * std::log(2.0));
  EXPECT_NEAR(sum / expected, 1, 0.15);
}

}  // namespace
}  // namespace rehmc::experiments::chain_errors_test
