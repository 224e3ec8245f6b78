// Weighted quantiles against R and by hand; the rank error of the sketch against its theory.
#include "rehmc/estimate/quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {
namespace {

TEST(EmpiricalDistribution, EqualWeightsGiveTypeSeven) {
  // R: quantile(c(3, 1, 4, 1.5, 9, 2.6), c(0, .1, .25, .5, .77, 1)); the reference file has many
  // more.
  const std::vector<double> values{3, 1, 4, 1.5, 9, 2.6};
  const std::vector<double> probabilities{0, 0.1, 0.25, 0.5, 0.77, 1};
  const std::vector<double> expected{1, 1.25, 1.775, 2.8, 3.85, 9};
  for (const double weight : {1.0, 0.3}) {
    const EmpiricalDistribution distribution(values, std::vector<double>(6, weight));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      EXPECT_NEAR(distribution.quantile(probabilities[i]), expected[i], 1e-14);
    }
  }
}

TEST(EmpiricalDistribution, WeightsGeneraliseTypeSevenContinuously) {
  Stream stream({.seed = 1}, Purpose::test);
  std::vector<double> values(40), weights(40, 1.0);
  for (double& value : values) value = stream.normal();
  const EmpiricalDistribution plain(values);
  // Weights that are equal but for one part in 10^9 take the general path.
  for (std::size_t i = 0; i < 40; ++i) weights[i] += 1e-9 * static_cast<double>(i % 3);
  const EmpiricalDistribution almost(values, weights);
  // Numbers of tiny weight, wherever they lie, change next to nothing; of weight 0, nothing at all.
  auto more = values;
  auto more_weights = weights;
  for (const double outlier : {-100.0, 0.0, 100.0}) {
    more.push_back(outlier);
    more_weights.push_back(1e-10);
    more.push_back(std::nan(""));
    more_weights.push_back(0);
  }
  const EmpiricalDistribution with_outliers(more, more_weights);
  for (double p = 0; p <= 1; p += 0.01) {
    EXPECT_NEAR(almost.quantile(p), plain.quantile(p), 1e-6);
    EXPECT_NEAR(with_outliers.quantile(p), plain.quantile(p), 1e-6);
  }
}

TEST(EmpiricalDistribution, ByHand) {
  // Weights 1/2, 1/4, 1/4: n = 1 / (1/4 + 1/16 + 1/16) = 8/3, a window of width 3/8 that begins at
  // 5/8 p.
  const EmpiricalDistribution distribution({10, 20, 40}, std::vector<double>{4, 2, 2});
  EXPECT_NEAR(distribution.quantile(0), 10, 1e-14);
  EXPECT_NEAR(distribution.quantile(0.2), 10, 1e-14);
  // p = 1/2: from 5/16 to 11/16, of which 3/16 lie on 10 and 3/16 on 20.
  EXPECT_NEAR(distribution.quantile(0.5), 15, 1e-13);
  // p = 1: from 5/8 to 1: 1/8 on 20 and 1/4 on 40.
  EXPECT_NEAR(distribution.quantile(1), (20 + 2 * 40) / 3.0, 1e-13);
  EXPECT_EQ(distribution.cumulative(9.9), 0);
  EXPECT_EQ(distribution.cumulative(10), 0.5);
  EXPECT_EQ(distribution.cumulative(39), 0.75);
  EXPECT_EQ(distribution.cumulative(40), 1);
}

TEST(EmpiricalDistribution, TiesInfinitiesAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  const EmpiricalDistribution ties({0.1, 0.1, 0.1}, std::vector<double>{0.2, 0.3, 0.7});
  for (const double p : {0.0, 0.3, 0.77, 1.0}) EXPECT_EQ(ties.quantile(p), 0.1);
  const EmpiricalDistribution infinite({-infinity, 1, 2, 3, infinity},
                                       std::vector<double>{1, 2, 2, 2, 1});
  EXPECT_EQ(infinite.quantile(0), -infinity);
  EXPECT_NEAR(infinite.quantile(0.5), 2, 1e-14);
  EXPECT_EQ(infinite.quantile(1), infinity);
  EXPECT_TRUE(std::isnan(EmpiricalDistribution({1, std::nan(""), 2}).quantile(0.5)));
  EXPECT_TRUE(std::isnan(
      EmpiricalDistribution({1, std::nan("")}, std::vector<double>{1, 2}).quantile(0.5)));
}

TEST(EmpiricalDistribution, RefusesWhatItCannotUse) {
  EXPECT_THROW(EmpiricalDistribution({}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{1}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{1, -1}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{1, std::nan("")}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}, std::vector<double>{0, 0}), DataError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}).quantile(-0.1), ConfigError);
  EXPECT_THROW(EmpiricalDistribution({1, 2}).quantile(std::nan("")), ConfigError);
}

TEST(QuantileSketch, ExactBeforeTheFirstCollapse) {
  QuantileSketch sketch({.seed = 1}, 8), other({.seed = 1, .chain = 1}, 8);
  std::vector<double> values, weights;
  for (int i = 0; i < 15; ++i) {
    values.push_back((i * 7) % 15);
    weights.push_back(1 + i % 3);
    (i < 9 ? sketch : other).add(weights.back(), values.back());
  }
  sketch.add(0, 1e6);
  sketch.merge(other);
  const EmpiricalDistribution exact(values, weights);
  for (const double p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    EXPECT_EQ(sketch.distribution().quantile(p), exact.quantile(p));
  }
  EXPECT_EQ(sketch.rank_error(), 0);
  EXPECT_EQ(sketch.stored(), 15u);
}

/// Errors of the estimated rank of the numbers below a threshold, over many seeds.
struct RankErrors {
  double mean = 0, mean_square = 0, bound = 0;  ///< bound: mean of rank_error()^2
};

RankErrors rank_errors(std::size_t replicates, double threshold, bool weighted, bool merged) {
  const std::size_t size = 5000;
  RankErrors errors;
  for (std::size_t r = 0; r < replicates; ++r) {
    // The order and the weights differ between replicates, and with them the fractions f.
    Stream stream({.seed = 3, .chain = static_cast<std::uint32_t>(r)}, Purpose::test);
    std::vector<QuantileSketch> sketches;
    for (std::uint32_t c = 0; c < 4; ++c) {
      sketches.emplace_back(Address{.seed = r, .chain = c}, 32);
    }
    double below = 0, total = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double value = stream.uniform();
      const double weight = weighted ? stream.exponential() : 1.0;
      sketches[merged ? (i / 100) % 4 : 0].add(weight, value);
      total += weight;
      if (value <= threshold) below += weight;
    }
    if (merged) {
      sketches[2].merge(sketches[3]);
      sketches[0].merge(sketches[1]);
      sketches[0].merge(sketches[2]);
    }
    EXPECT_NEAR(sketches[0].weight(), total, 1e-9 * total);
    const double error = sketches[0].distribution().cumulative(threshold) - below / total;
    errors.mean += error / static_cast<double>(replicates);
    errors.mean_square += error * error / static_cast<double>(replicates);
    errors.bound += std::pow(sketches[0].rank_error(), 2) / static_cast<double>(replicates);
  }
  return errors;
}

TEST(QuantileSketch, RankErrorIsUnbiasedAndAsSmallAsStated) {
  // Over R replicates the mean error has a standard error of sqrt(mean square / R); 4.5 of them are
  // exceeded with probability 7e-6. The mean square is its expectation times chi-square(R) / R,
  // hence within 1 +- 4.5 sqrt(2 / R). False alarms, all 12 checks: 1e-4.
  const std::size_t replicates = 1000;
  const double margin = 4.5 * std::sqrt(2.0 / replicates);
  for (const bool weighted : {false, true}) {
    for (const bool merged : {false, true}) {
      const auto errors = rank_errors(replicates, 0.237, weighted, merged);
      EXPECT_LT(std::abs(errors.mean), 4.5 * std::sqrt(errors.mean_square / replicates));
      // The bound takes 1/4 for f (1 - f). For equal weights f is 0 or 1/2 with equal chances, 1/8
      // on average; for random weights it tends to be spread evenly, 1/6 on average.
      EXPECT_GT(errors.mean_square, errors.bound / 2 * (1 - margin)) << weighted << merged;
      EXPECT_LT(errors.mean_square, errors.bound * (weighted ? 2.0 / 3 : 0.5) * (1 + margin))
          << weighted << merged;
    }
  }
}

TEST(QuantileSketch, BoundsHoldForLongStreamsOfAnyOrder) {
  for (const int order : {0, 1, 2}) {
    QuantileSketch sketch({.seed = 8}, 128);
    const std::size_t size = 300000;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t rank = order == 0 ? i : order == 1 ? size - 1 - i : (i * 7919) % size;
      sketch.add(1, static_cast<double>(rank));
    }
    EXPECT_LE(sketch.rank_error(), 1 / (std::sqrt(2.0) * 128));
    EXPECT_LE(sketch.stored(), 128 * (2 + std::log2(size / 128.0)));
    const auto distribution = sketch.distribution();
    for (const double p : {0.025, 0.25, 0.5, 0.75, 0.975}) {
      // Six standard errors, and half a step between the numbers that were kept.
      const double tolerance = 6 * sketch.rank_error() + 1.0 / 128;
      EXPECT_NEAR(distribution.quantile(p) / static_cast<double>(size), p, tolerance);
    }
  }
}

TEST(QuantileSketch, BuffersOfDifferentWeightCountByTheirWeight) {
  // Small numbers come first and weigh 1, large ones later and weigh 9.
  QuantileSketch sketch({.seed = 6}, 64);
  for (int i = 0; i < 64 * 64; ++i) sketch.add(i < 32 * 64 ? 1 : 9, i);
  // Six standard errors: 2e-9.
  EXPECT_NEAR(sketch.distribution().cumulative(32 * 64 - 1), 0.1, 6 * sketch.rank_error());
  EXPECT_NEAR(sketch.distribution().cumulative(48 * 64 - 1), 0.55, 6 * sketch.rank_error());
  EXPECT_LT(sketch.rank_error(), 0.02);
}

TEST(QuantileSketch, ReproducibleAndMergeableInAnyOrder) {
  const auto fill = [](std::uint32_t chain, std::size_t size) {
    QuantileSketch sketch({.seed = 4, .chain = chain}, 16);
    Stream stream({.seed = 9, .chain = chain}, Purpose::test);
    for (std::size_t i = 0; i < size; ++i) sketch.add(stream.uniform(), stream.normal());
    return sketch;
  };
  const auto same = [](const QuantileSketch& a, const QuantileSketch& b) {
    return std::ranges::equal(a.distribution().values(), b.distribution().values());
  };
  EXPECT_TRUE(same(fill(0, 1000), fill(0, 1000)));
  auto left = fill(0, 1000), middle = fill(1, 37), right = fill(2, 700);
  auto again = left;
  again.merge(middle);
  again.merge(right);
  auto other = left;
  other.merge(middle);
  other.merge(right);
  EXPECT_TRUE(same(again, other));
  // The other bracket differs by its random offsets alone: same weight, ranks equal within the
  // errors.
  auto bracket = middle;
  bracket.merge(right);
  auto outer = left;
  outer.merge(bracket);
  EXPECT_NEAR(outer.weight(), again.weight(), 1e-9);
  for (const double x : {-1.0, 0.0, 1.0}) {
    EXPECT_NEAR(outer.distribution().cumulative(x), again.distribution().cumulative(x),
                6 * std::hypot(outer.rank_error(), again.rank_error()));
  }
  auto twice = left;
  twice.merge(twice);
  EXPECT_NEAR(twice.weight(), 2 * left.weight(), 1e-9);
}

TEST(QuantileSketch, BadInput) {
  EXPECT_THROW(QuantileSketch({}, 1), ConfigError);
  QuantileSketch sketch({}, 4), other({}, 8);
  EXPECT_THROW(sketch.merge(other), ConfigError);
  EXPECT_THROW(sketch.add(-1, 0), DataError);
  EXPECT_THROW(sketch.add(std::nan(""), 0), DataError);
  EXPECT_THROW(sketch.distribution(), DataError);
  sketch.add(1, 2);
  sketch.add(1, std::nan(""));
  EXPECT_TRUE(std::isnan(sketch.distribution().quantile(0.5)));
  QuantileSketch fine({}, 4);
  fine.add(1, 1);
  fine.merge(sketch);
  EXPECT_TRUE(std::isnan(fine.distribution().quantile(0.5)));
  EXPECT_EQ(fine.weight(), 3);
}

}  // namespace
}  // namespace rehmc
