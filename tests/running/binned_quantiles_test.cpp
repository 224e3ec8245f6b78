// Quantiles from bins: every number in its bin, an error bound that always holds and is tight.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/running/pooled_bins.hpp"

namespace rehmc::binned_quantiles_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t bins = BinnedQuantiles::bins;

BinnedQuantiles bins_about(double location, double scale) {
  return BinnedQuantiles({&location, 1}, {&scale, 1});
}

BinnedQuantile quantile(const std::vector<BinnedQuantiles>& streams, double p,
                        std::size_t coordinate = 0) {
  std::vector<const BinnedQuantiles*> pointers;
  for (const auto& stream : streams) pointers.push_back(&stream);
  return PooledBins(pointers, coordinate).quantile(p);
}

struct Weighted {
  double value;
  double weight;
};

/// The least number at or below which lies at least the share p of the weight.
double exact_quantile(std::vector<Weighted> numbers, double p) {
  std::sort(numbers.begin(), numbers.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double total = 0;
  for (const auto& number : numbers) total += number.weight;
  double sum = 0;
  for (const auto& number : numbers) {
    sum += number.weight;
    if (sum >= p * total) return number.value;
  }
  return numbers.back().value;
}

TEST(BinnedQuantiles, EveryNumberLiesInItsBin) {
  constexpr double location = 3, scale = 0.7;
  Stream stream({.seed = 1}, Purpose::test);
  std::vector<bool> seen(bins);
  for (int repeat = 0; repeat < 20000; ++repeat) {
    // From a thousandth of a scale to a thousand scales away, and on the edges themselves.
    double x =
        location + scale * (stream.chance(0.5) ? 1 : -1) * std::pow(10, 6 * stream.uniform() - 3);
    BinnedQuantiles one = bins_about(location, scale);
    if (repeat % 4 == 0) x = one.upper_edge(0, stream.below(bins - 1));
    one.add(1, {&x, 1});
    const auto weights = one.weights(0);
    ASSERT_EQ(std::count(weights.begin(), weights.end(), 1.0), 1) << x;
    ASSERT_EQ(std::count(weights.begin(), weights.end(), 0.0), 63) << x;
    const auto bin =
        static_cast<std::size_t>(std::find(weights.begin(), weights.end(), 1.0) - weights.begin());
    seen[bin] = true;
    const double rounding = 1e-14 * std::abs(x);
    if (bin > 0) {
      ASSERT_GE(x, one.upper_edge(0, bin - 1) - rounding);
    }
    if (bin + 1 < bins) {
      ASSERT_LE(x, one.upper_edge(0, bin) + rounding);
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 64);
}

TEST(BinnedQuantiles, EdgesAreTheDocumentedOnes) {
  const BinnedQuantiles one = bins_about(10, 6);  // so that the bins in the middle have width 1
  EXPECT_DOUBLE_EQ(one.upper_edge(0, 31), 10);
  for (std::size_t bin = 8; bin < 56; ++bin) {
    EXPECT_NEAR(one.upper_edge(0, bin) - one.upper_edge(0, bin - 1), 1, 1e-12);
  }
  for (std::size_t bin = 56; bin < 63; ++bin) {
    const double width = std::exp2(static_cast<double>(bin - 55));
    EXPECT_NEAR(one.upper_edge(0, bin) - one.upper_edge(0, bin - 1), width, 1e-12);
    EXPECT_NEAR(one.upper_edge(0, 62 - bin) + one.upper_edge(0, bin), 20, 1e-12);
  }
  EXPECT_NEAR(one.upper_edge(0, 62), 10 + 24 + 254, 1e-12);
}

using Law = std::function<double(Stream&)>;
struct NamedLaw {
  std::string name;
  Law draw;
};

std::vector<NamedLaw> laws() {
  return {
      {"normal", [](Stream& s) { return s.normal(); }},
      {"skewed", [](Stream& s) { return std::log(s.exponential()); }},
      {"Cauchy", [](Stream& s) { return s.normal() / s.normal(); }},
      {"atoms", [](Stream& s) { return std::floor(3 * s.normal()) / 3; }},
      {"two places", [](Stream& s) { return s.chance(0.3) ? -2.0 : 5.0; }},
      {"constant", [](Stream&) { return 1.25; }},
  };
}

// No false alarms: the bound is a theorem. Three streams with their own bins, well or badly placed.
TEST(BinnedQuantiles, ErrorBoundAlwaysHolds) {
  std::size_t beyond_half = 0;
  for (const auto& law : laws()) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      Stream stream({.seed = seed}, Purpose::test);
      std::vector<BinnedQuantiles> streams;
      std::vector<Weighted> numbers;
      const std::uint64_t chains = 1 + seed % 3;
      for (std::uint64_t c = 0; c < chains; ++c) {
        streams.push_back(
            bins_about(2 * stream.normal(), std::pow(10, 2 * stream.uniform() - 1.5)));
        const std::uint64_t count = 1 + stream.below(300);
        for (std::uint64_t i = 0; i < count; ++i) {
          const double x = law.draw(stream);
          const double weight = seed % 2 == 0 ? 1 : 2 * stream.uniform();
          streams.back().add(weight, {&x, 1});
          numbers.push_back({x, weight});
        }
      }
      for (const double p : {0.0, 0.001, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.999, 1.0}) {
        const BinnedQuantile found = quantile(streams, p);
        const double error = std::abs(found.value - exact_quantile(numbers, p));
        ASSERT_LE(error, found.error_bound + 1e-12 * std::abs(found.value))
            << law.name << ", seed " << seed << ", p = " << p;
        if (error > 0.5 * found.error_bound) ++beyond_half;
      }
    }
  }
  // Half the bound would not hold.
  EXPECT_GT(beyond_half, 100u);
}

TEST(BinnedQuantiles, WellPlacedBinsAreAccurate) {
  constexpr std::size_t count = 200000;
  Stream stream({.seed = 5}, Purpose::test);
  // The true quantile functions, with location and scale as warmup would find them.
  struct Case {
    Law draw;
    std::function<double(double)> truth;
    double location, scale;
  };
  const std::vector<Case> cases{
      {laws()[0].draw, [](double p) { return normal_quantile(p); }, 0.3, 0.9},
      {laws()[1].draw, [](double p) { return std::log(-std::log1p(-p)); }, -0.6, 1.3},
      {laws()[2].draw, [](double p) { return std::tan(M_PI * (p - 0.5)); }, 0.5, 5},
  };
  for (const auto& [draw, truth, location, scale] : cases) {
    std::vector<BinnedQuantiles> one{bins_about(location, scale)};
    std::vector<Weighted> numbers;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back({draw(stream), 1});
      one[0].add(1, {&numbers.back().value, 1});
    }
    for (const double p : standard_probabilities) {
      const BinnedQuantile found = quantile(one, p);
      // Interpolation is good for a fifth of a bin, which is a sixth of the scale in the middle.
      const double error = std::abs(found.value - exact_quantile(numbers, p));
      EXPECT_LE(error, 0.2 * scale / 6 * std::max(1.0, std::abs(truth(p)) / (2 * scale))) << p;
      EXPECT_LE(found.error_bound, 16 * scale / 6);
      if (p >= 0.25 && p <= 0.75) {
        EXPECT_LE(found.error_bound, scale / 6 * (1 + 1e-12));
        // As far from the truth as sampling explains at 5 standard errors, and that fifth.
        const double slope = (truth(p + 0.01) - truth(p - 0.01)) / 0.02;
        EXPECT_NEAR(found.value, truth(p),
                    5 * std::sqrt(p * (1 - p) / count) * slope + 0.2 * scale / 6);
      }
    }
  }
}

TEST(BinnedQuantiles, StreamsTogetherEqualOneStream) {
  Stream stream({.seed = 6}, Purpose::test);
  std::vector<BinnedQuantiles> parts(3, bins_about(0, 1));
  std::vector<BinnedQuantiles> whole{bins_about(0, 1)};
  for (int i = 0; i < 30000; ++i) {
    const double x = stream.normal();
    parts[static_cast<std::size_t>(i % 3)].add(0.5, {&x, 1});
    whole[0].add(0.5, {&x, 1});
  }
  for (const double p : standard_probabilities) {
    const BinnedQuantile together = quantile(parts, p);
    const BinnedQuantile alone = quantile(whole, p);
    // The same bin, by nearly the same curve.
    EXPECT_NEAR(together.value, alone.value, 0.01);
    EXPECT_LE(together.error_bound, 1.0 / 6 + 1e-12);
  }
  // Quantiles of pooled bins rise with the probability.
  double before = -std::numeric_limits<double>::infinity();
  for (double p = 0; p <= 1; p += 0.001) {
    const double value = quantile(parts, p).value;
    ASSERT_GE(value, before);
    before = value;
  }
}

TEST(BinnedQuantiles, StatesOfADrawCanBeAddedTogether) {
  constexpr std::size_t dimension = 77;  // more than two blocks, and a rest
  Stream stream({.seed = 7}, Purpose::test);
  std::vector<double> location(dimension), scale(dimension);
  stream.fill_normal(location);
  for (double& s : scale) s = stream.exponential();
  BinnedQuantiles together(location, scale), one_by_one(location, scale);
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<std::vector<double>> positions(5, std::vector<double>(dimension));
    std::vector<WeightedState> states;
    for (auto& position : positions) {
      stream.fill_normal(position);
      states.push_back({{position, {}, 0}, states.empty() ? 0.0 : 0.25});
    }
    together.add(states, 3);
    for (const auto& state : states) one_by_one.add(3 * state.weight, state.state.position);
  }
  for (std::size_t i = 0; i < dimension; ++i) {
    EXPECT_EQ(together.least(i), one_by_one.least(i));
    EXPECT_EQ(together.most(i), one_by_one.most(i));
    double sum = 0;
    for (std::size_t b = 0; b < bins; ++b) {
      EXPECT_EQ(together.weights(i)[b], one_by_one.weights(i)[b]);
      sum += together.weights(i)[b];
    }
    EXPECT_EQ(sum, 150);
  }
}

TEST(BinnedQuantiles, NumbersThatAreNotFiniteAffectOnlyTheirCoordinate) {
  for (const double bad : {not_a_number, infinity, -infinity}) {
    std::vector<BinnedQuantiles> streams{
        BinnedQuantiles(std::vector{0.0, 0.0}, std::vector{1.0, 1.0})};
    streams[0].add(1, std::vector{0.0, 0.0});
    streams[0].add(1, std::vector{1.0, bad});
    EXPECT_TRUE(std::isfinite(quantile(streams, 0.5, 0).value));
    EXPECT_TRUE(std::isnan(quantile(streams, 0.5, 1).value));
    EXPECT_TRUE(std::isnan(quantile(streams, 0.5, 1).error_bound));
  }
  const std::vector<BinnedQuantiles> nothing{bins_about(0, 1)};
  EXPECT_TRUE(std::isnan(quantile(nothing, 0.5).value));
}

TEST(BinnedQuantiles, OddScalesAndBadInput) {
  for (const double scale : {0.0, -1.0, infinity, not_a_number, 1e-320}) {
    std::vector<BinnedQuantiles> streams{bins_about(-7, scale)};
    for (const double x : {-9.0, -7.0, -5.0}) streams[0].add(1, {&x, 1});
    EXPECT_NEAR(quantile(streams, 0.5).value, -7, 7.0 / 6 + 1e-12) << scale;
  }
  EXPECT_THROW(bins_about(not_a_number, 1), DataError);
  EXPECT_THROW(BinnedQuantiles(std::vector{0.0}, std::vector<double>{}), DataError);
  EXPECT_THROW(quantile({bins_about(0, 1)}, 1.5), ConfigError);
  EXPECT_THROW(quantile({bins_about(0, 1)}, not_a_number), ConfigError);
}

}  // namespace
}  // namespace rehmc::binned_quantiles_test
