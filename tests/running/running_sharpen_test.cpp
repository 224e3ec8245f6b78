// Sharpening from chunk sums: what is gained, honest errors, and the Stein check.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/QR>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/running/running_estimate.hpp"
#include "rehmc/running/running_stein_check.hpp"
#include "tests/sharpen/honest.hpp"

namespace rehmc::running_sharpen_test {
namespace {

using testing::Honesty;

struct Point {
  double x;
  double gradient;
};

/// One coordinate of a target, as a function of two independent standard normal variables.
struct Target {
  double mean;
  double sd;
  Point (*at)(double z, double w);
};

constexpr Target normal{3, 2, [](double z, double) { return Point{3 + 2 * z, -z / 2}; }};

/// The logarithm of an exponential variable.
const Target skewed{-std::numbers::egamma, std::numbers::pi / std::sqrt(6.0), [](double z, double) {
                      const double e = -std::log(std::erfc(z / std::numbers::sqrt2) / 2);
                      return Point{std::log(e), 1 - e};
                    }};

/// One of two standard normal variables with the correlation 1/2: its own gradient also depends on
/// the other one.
constexpr Target correlated{0, 1, [](double z, double w) {
                              const double other = z / 2 + std::sqrt(0.75) * w;
                              return Point{z, -(z - other / 2) / 0.75};
                            }};

struct Variation {
  double gradient = 1;  ///< the gradient is wrong by this factor
  double memory = 0.6;  ///< the correlation of neighbouring draws
};

/// Two autoregressions give the draws and, correlated with them, four states of every trajectory.
RunningSummary chain_of(const Target& target, int draws, Stream& stream,
                        const Variation& variation = {}) {
  const double phi = variation.memory;
  constexpr int states = 4;
  double z = stream.normal();
  double w = stream.normal();
  const double centre = target.at(z, w).x;
  RunningSummary chain({&centre, 1}, {&target.sd, 1}, true, true);
  for (int i = 0; i < draws; ++i) {
    z = phi * z + std::sqrt(1 - phi * phi) * stream.normal();
    w = phi * w + std::sqrt(1 - phi * phi) * stream.normal();
    std::array<double, 5> means{};
    for (int k = 0; k < states; ++k) {
      const Point point = target.at(z / 2 + std::sqrt(0.75) * stream.normal(),
                                    w / 2 + std::sqrt(0.75) * stream.normal());
      const double u = point.x - centre;
      const double g = variation.gradient * point.gradient;
      const std::array terms{u, u * u, g, u * g, u * u * g};
      for (std::size_t j = 0; j < means.size(); ++j) means[j] += terms[j] / states;
    }
    const double x = target.at(z, w).x;
    const WeightedState kept{{{&x, 1}, {}, 0}, 1};
    chain.add({&x, 1}, {&means[0], 1}, {&means[1], 1}, {&kept, 1}, 1,
              {{&means[2], 1}, {&means[3], 1}, {&means[4], 1}});
  }
  return chain;
}

struct Replicate {
  std::vector<RunningSummary> chains;
  std::vector<const RunningSummary*> pointers;

  Replicate(const Target& target, int count, int draws, std::uint64_t seed,
            const Variation& variation = {}) {
    Stream stream({.seed = seed}, Purpose::test);
    for (int c = 0; c < count; ++c) chains.push_back(chain_of(target, draws, stream, variation));
    for (const RunningSummary& chain : chains) pointers.push_back(&chain);
  }
  RunningEstimate estimate() const { return running_estimate(pointers, 0); }
};

constexpr int replicates = 400;

/// Plain and sharpened errors over many runs.
struct Errors {
  Honesty mean, sd;
  double plain_mean = 0, plain_sd = 0, sharp_mean = 0, sharp_sd = 0;  ///< sums of squared errors
  double gain_of_mean() const { return plain_mean / sharp_mean; }
  double gain_of_sd() const { return plain_sd / sharp_sd; }
};

Errors errors_of(const Target& target, int chains, int draws, const Variation& variation = {}) {
  Errors errors;
  for (std::uint64_t seed = 0; seed < replicates; ++seed) {
    const RunningEstimate estimate =
        Replicate(target, chains, draws, 100 + seed, variation).estimate();
    const Estimate& sharp = estimate.sharpened->estimate;
    errors.mean.add(sharp.mean - target.mean, sharp.mcse_mean);
    errors.sd.add(sharp.sd - target.sd, sharp.mcse_sd);
    errors.plain_mean += std::pow(estimate.plain.mean - target.mean, 2);
    errors.plain_sd += std::pow(estimate.plain.sd - target.sd, 2);
    errors.sharp_mean += std::pow(sharp.mean - target.mean, 2);
    errors.sharp_sd += std::pow(sharp.sd - target.sd, 2);
  }
  return errors;
}

/// Three checks of each of six summaries: a false alarm in one of 10^4 runs of the test.
constexpr double rate = 1e-4 / 18;

TEST(RunningSharpen, ErrorsAreHonestAndSmall) {
  const Errors skew = errors_of(skewed, 4, 512);
  EXPECT_EQ(skew.mean.complaint(rate), "");
  EXPECT_EQ(skew.sd.complaint(rate), "");
  EXPECT_GT(skew.gain_of_mean(), 4000);
  EXPECT_GT(skew.gain_of_sd(), 250);

  // A coordinate's own features do not contain what the other one does: for the mean, they leave a
  // quarter of the recycled variance.
  const Errors two = errors_of(correlated, 4, 512);
  EXPECT_EQ(two.mean.complaint(rate), "");
  EXPECT_EQ(two.sd.complaint(rate), "");
  EXPECT_GT(two.gain_of_mean(), 7);
  EXPECT_LT(two.gain_of_mean(), 25);
  EXPECT_GT(two.gain_of_sd(), 20);

  // One chain, fitted in four blocks: 31 chunks.
  const Errors alone = errors_of(correlated, 1, 992);
  EXPECT_EQ(alone.mean.complaint(rate), "");
  EXPECT_EQ(alone.sd.complaint(rate), "");
  EXPECT_GT(alone.gain_of_mean(), 6);
}

// The negative control: the same test rejects features whose mean is not 0.
TEST(RunningSharpen, HonestyTestDetectsAWrongGradient) {
  EXPECT_NE(errors_of(skewed, 4, 512, {.gradient = 0.99}).sd.complaint(rate), "");
}

/// All three features, with coefficients from the same chunks that are averaged.
struct InSample {
  double average;
  double mcse;
};
InSample in_sample(const RunningSummary& chain) {
  constexpr std::size_t count = 8;
  const std::size_t together = chain.recycled().full() / count;
  Eigen::MatrixXd features(count, 4);
  Eigen::VectorXd first(count);
  double draws = 0;
  for (std::size_t b = 0; b < count; ++b) {
    const auto row = static_cast<Eigen::Index>(b);
    Eigen::Vector4d sums = Eigen::Vector4d::Zero();
    first[row] = 0;
    for (std::size_t k = b * together; k < (b + 1) * together; ++k) {
      const ChunkSums::Chunk chunk = chain.recycled().chunk(k, 0);
      sums += Eigen::Vector4d(chunk.draws, chunk.stein[0], chunk.stein[1], chunk.stein[2]);
      first[row] += chunk.first;
    }
    draws = sums[0];
    features.row(row) = sums.transpose() / draws;
    first[row] /= draws;
  }
  const Eigen::VectorXd coefficients = features.colPivHouseholderQr().solve(first);
  const double squares = (first - features * coefficients).squaredNorm();
  return {chain.centre(0) + coefficients[0], std::sqrt(squares / (count - 1) / count)};
}

// The other negative control: coefficients from the chunks that they correct.
TEST(RunningSharpen, HonestyTestDetectsCoefficientsThatWereNotCrossFitted) {
  Honesty honesty;
  for (std::uint64_t seed = 0; seed < replicates; ++seed) {
    const Replicate run(correlated, 1, 512, 100 + seed);
    const InSample found = in_sample(run.chains.front());
    honesty.add(found.average - correlated.mean, found.mcse);
  }
  EXPECT_NE(honesty.complaint(rate), "");
}

// Up to what rounding to single precision leaves.
TEST(RunningSharpen, NormalVariablesAreExact) {
  for (const int chains : {1, 4}) {
    const RunningEstimate estimate = Replicate(normal, chains, 1000, 3).estimate();
    const Estimate& sharp = estimate.sharpened->estimate;
    EXPECT_NEAR(sharp.mean, normal.mean, 1e-6);
    EXPECT_NEAR(sharp.sd, normal.sd, 1e-6);
    EXPECT_LT(sharp.mcse_mean, 1e-6);
    EXPECT_LT(sharp.mcse_sd, 1e-6);
    EXPECT_NEAR(sharp.ess_mean, std::pow(sharp.sd / sharp.mcse_mean, 2), 1e-6 * sharp.ess_mean);
    for (std::size_t q = 0; q < sharp.quantiles.size(); ++q) {
      EXPECT_EQ(sharp.quantiles[q].value, estimate.recycled->quantiles[q].value);
    }
  }
}

/// Four chains; `draw(chain)` gives a coordinate and its gradient.
template <class Draw>
RunningEstimate estimate_of_draws(Draw&& draw) {
  std::vector<RunningSummary> chains;
  std::vector<const RunningSummary*> pointers;
  const double centre = 0, scale = 1;
  for (int c = 0; c < 4; ++c) {
    RunningSummary& chain =
        chains.emplace_back(std::span(&centre, 1), std::span(&scale, 1), true, true);
    for (int i = 0; i < 512; ++i) {
      const auto [x, gradients] = draw(c);
      const double square = x * x;
      const WeightedState kept{{{&x, 1}, {}, 0}, 1};
      chain.add({&x, 1}, {&x, 1}, {&square, 1}, {&kept, 1}, 1,
                {{&gradients[0], 1}, {&gradients[1], 1}, {&gradients[2], 1}});
    }
  }
  for (const RunningSummary& chain : chains) pointers.push_back(&chain);
  return running_estimate(pointers, 0);
}

// A gradient that is unrelated to the coordinate, but has the mean 0 that Stein's identity
// requires, leaves the recycled estimate unchanged.
TEST(RunningSharpen, FeaturesThatDoNotHelpAreLeftOut) {
  Stream stream({.seed = 5}, Purpose::test);
  const RunningEstimate estimate = estimate_of_draws([&](int) {
    const double x = stream.normal();
    return std::pair(x, std::array{stream.normal(), stream.normal() - 1, stream.normal() - 2 * x});
  });
  EXPECT_EQ(estimate.sharpened->estimate.mean, estimate.recycled->mean);
  EXPECT_EQ(estimate.sharpened->estimate.mcse_mean, estimate.recycled->mcse_mean);
  EXPECT_EQ(estimate.sharpened->estimate.sd, estimate.recycled->sd);
  EXPECT_EQ(estimate.sharpened->estimate.mcse_sd, estimate.recycled->mcse_sd);
}

// In one chain the gradient determines the coordinate, in the others it is unrelated. Coefficients
// from the other chains do not help that chain; its own would.
TEST(RunningSharpen, AChainIsCorrectedWithCoefficientsOfOthers) {
  const auto estimate_with = [](int chains_that_tell) {
    Stream stream({.seed = 6}, Purpose::test);
    return estimate_of_draws([&](int c) {
      const bool tells = c < chains_that_tell;
      const double gradient = tells ? stream.normal() : 0.3 * stream.normal();
      const double x = tells ? 5 * gradient : stream.normal();
      return std::pair(x, std::array{gradient, stream.normal() - 1, stream.normal() - 2 * x});
    });
  };
  const RunningEstimate one = estimate_with(1);
  ASSERT_TRUE(one.sharpened.has_value());
  EXPECT_EQ(one.sharpened->estimate.mean, one.recycled->mean);
  EXPECT_EQ(one.sharpened->mean_set, FeatureSet::none);
  EXPECT_EQ(estimate_with(4).sharpened->mean_set, FeatureSet::own);
}

TEST(RunningSharpen, IsAbsentWithoutErrorsOrGradients) {
  EXPECT_FALSE(Replicate(skewed, 4, 7, 1).estimate().sharpened.has_value());
  EXPECT_TRUE(Replicate(skewed, 4, 32, 1).estimate().sharpened.has_value());
  const double centre = 0, scale = 1;
  const RunningSummary without({&centre, 1}, {&scale, 1}, true);
  const RunningSummary with({&centre, 1}, {&scale, 1}, true, true);
  EXPECT_FALSE(without.gradients());
  EXPECT_TRUE(with.gradients());
  const std::vector<const RunningSummary*> unlike{&with, &without};
  EXPECT_THROW(running_estimate(unlike, 0), DataError);
  EXPECT_THROW(running_stein_check(unlike), DataError);
}

TEST(RunningSharpen, ContinuesFromAnArchive) {
  const Replicate run(skewed, 2, 300, 6);
  std::vector<RunningSummary> again(2);
  for (std::size_t c = 0; c < 2; ++c) {
    ArchiveWriter stored;
    stored(run.chains[c]);
    EXPECT_NEAR(static_cast<double>(stored.bytes().size()),
                static_cast<double>(run.chains[c].bytes()), 500);
    ArchiveReader reader(stored.bytes());
    reader(again[c]);
    EXPECT_EQ(reader.left(), 0u);
  }
  const std::vector<const RunningSummary*> pointers{&again[0], &again[1]};
  const Estimate expected = run.estimate().sharpened->estimate;
  const Estimate found = running_estimate(pointers, 0).sharpened->estimate;
  EXPECT_EQ(found.mean, expected.mean);
  EXPECT_EQ(found.mcse_sd, expected.mcse_sd);
}

// The limit is what |t| exceeds with probability 1e-3 / 2; 400 healthy runs fail 0.4 times at most,
// and more than 5 times in a run of 10^5. The shortest chunks are of 8 draws.
TEST(RunningSteinCheck, PassesHealthyRuns) {
  for (const double memory : {0.6, 0.9}) {
    for (const Target* target : {&normal, &skewed, &correlated}) {
      int failed = 0;
      for (std::uint64_t seed = 0; seed < replicates; ++seed) {
        const Replicate run(*target, 4, 128, 100 + seed, {.memory = memory});
        const SteinCheck check = running_stein_check(run.pointers);
        EXPECT_EQ(check.features, 2u);
        EXPECT_NEAR(check.limit, 4.1096, 1e-4);  // 64 chunks: 21 degrees of freedom
        failed += !check.passed();
      }
      EXPECT_LE(failed, 5);
    }
  }
}

// Five coordinates have ten features, so that each may exceed the limit with probability 1e-4. 64
// chunks have 21 degrees of freedom; the expected limit is by numerical integration of Student's t.
TEST(RunningSteinCheck, LimitAllowsForTheNumberOfFeatures) {
  constexpr std::size_t dimension = 5;
  Stream stream({.seed = 8}, Purpose::test);
  const std::vector<double> centre(dimension), scale(dimension, 1);
  std::vector<RunningSummary> chains(4, RunningSummary(centre, scale, true, true));
  std::vector<const RunningSummary*> pointers;
  std::vector<double> x(dimension), square(dimension), g(dimension), xg(dimension), xxg(dimension);
  for (RunningSummary& chain : chains) {
    for (int i = 0; i < 128; ++i) {
      for (std::size_t k = 0; k < dimension; ++k) {
        x[k] = stream.normal();
        square[k] = x[k] * x[k];
        g[k] = -x[k];
        xg[k] = x[k] * g[k];
        xxg[k] = x[k] * xg[k];
      }
      const WeightedState kept{{x, {}, 0}, 1};
      chain.add(x, x, square, {&kept, 1}, 1, {g, xg, xxg});
    }
    pointers.push_back(&chain);
  }
  const SteinCheck check = running_stein_check(pointers);
  EXPECT_EQ(check.features, 10u);
  EXPECT_NEAR(check.limit, 4.783877116, 1e-8);
  EXPECT_NEAR(check.refusal_limit, 7.90342590, 1e-7);  // likewise, at the rate of 1e-6
  EXPECT_TRUE(check.passed());
}

TEST(RunningSteinCheck, DetectsAWrongGradientAndADensityWithAJump) {
  EXPECT_FALSE(
      running_stein_check(Replicate(skewed, 4, 512, 1, {.gradient = 0.9}).pointers).passed());
  // A normal variable above -1/2, whose gradient does not show the jump.
  const Target cut{0.5, 0.7, [](double z, double) {
                     const double x = std::abs(z) - 0.5;
                     return Point{x, -(x + 0.5)};
                   }};
  EXPECT_TRUE(running_stein_check(Replicate(cut, 4, 512, 1).pointers).refuses());
}

TEST(RunningSteinCheck, TestsNothingWithoutGradientsOrChunks) {
  const SteinCheck early = running_stein_check(Replicate(skewed, 4, 127, 1).pointers);
  EXPECT_EQ(early.features, 0u);
  EXPECT_TRUE(early.passed());
  const double centre = 0, scale = 1;
  const RunningSummary without({&centre, 1}, {&scale, 1}, true);
  const RunningSummary* const chain = &without;
  EXPECT_EQ(running_stein_check({&chain, 1}).features, 0u);
  EXPECT_THROW(running_stein_check({}), DataError);
}

}  // namespace
}  // namespace rehmc::running_sharpen_test
