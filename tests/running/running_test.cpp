// Running summaries against stored draws: moments, R-hat, honest errors, memory, archives.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/running/running_estimate.hpp"
#include "tests/estimate/basic_diagnostics.hpp"

namespace rehmc::running_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A stationary AR(1) with variance 1 / (1 - phi^2), and states that a trajectory through each draw
/// might visit: of the same distribution, correlated with the draw.
struct Autoregression {
  static constexpr double phi = 0.6;
  static constexpr std::size_t states = 4;
  static double sd() { return 1 / std::sqrt(1 - phi * phi); }

  explicit Autoregression(Stream& s) : stream(s), x(sd() * s.normal()) {}

  void next() {
    x = phi * x + stream.normal();
    for (double& y : visited) y = 0.5 * x + std::sqrt(0.75) * sd() * stream.normal();
  }

  Stream& stream;
  double x;
  std::array<double, states> visited{};
};

/// One coordinate, both stored and summarised.
struct Chain {
  RunningSummary running;
  double centre = 0;
  std::vector<double> draws, first, second, kept, mass;
  std::vector<std::size_t> begins{0};

  Chain(double about, double scale) : running({&about, 1}, {&scale, 1}, true), centre(about) {}

  void add(double x, std::span<const double> visited, double draw_mass = 1) {
    double offset = 0, square = 0;
    std::vector<WeightedState> states;
    const double share = 1 / static_cast<double>(visited.size());
    for (const double& y : visited) {
      offset += share * (y - centre);
      square += share * (y - centre) * (y - centre);
      states.push_back({{{&y, 1}, {}, 0}, share});
      kept.push_back(y);
    }
    running.add({&x, 1}, {&offset, 1}, {&square, 1}, states, draw_mass);
    draws.push_back(x);
    first.push_back(offset);
    second.push_back(square);
    mass.push_back(draw_mass);
    begins.push_back(kept.size());
  }
};

RunningEstimate estimate_of(const std::vector<Chain>& chains) {
  std::vector<const RunningSummary*> pointers;
  for (const Chain& chain : chains) pointers.push_back(&chain.running);
  return running_estimate(pointers, 0);
}

std::vector<Series> series_of(const std::vector<Chain>& chains, std::vector<double> Chain::*part) {
  std::vector<Series> result;
  for (const Chain& chain : chains) {
    const auto& values = chain.*part;
    result.push_back({values.data(), values.size(), 1});
  }
  return result;
}

TEST(ChunkSums, AreTheSumsOfConsecutiveDraws) {
  Stream stream({.seed = 1}, Purpose::test);
  constexpr double shift = 0.7;
  ChunkSums sums(2);
  std::vector<double> offsets, masses;
  for (std::size_t n = 1; n <= 3000; ++n) {
    const double mass = stream.uniform();
    const std::vector<double> offset{1, stream.normal()};
    const std::vector<double> square{1, offset[1] * offset[1]};
    sums.add(offset, square, mass);
    offsets.push_back(offset[1]);
    masses.push_back(mass);
    ASSERT_EQ(sums.count(), n);
    ASSERT_LT(sums.full(), 32u);
    if (n >= 32) {
      ASSERT_GE(sums.full(), 16u);
    }
    if (n % 97 != 0 && n != 1024) continue;
    std::size_t next = 0;
    for (std::size_t b = 0; b <= sums.full(); ++b) {
      const ChunkSums::Chunk chunk = sums.chunk(b, 1, shift);
      if (b < sums.full()) {
        ASSERT_EQ(chunk.draws, sums.chunk(0, 1).draws);
      }
      double mass_sum = 0, first = 0, second = 0;
      for (double i = 0; i < chunk.draws; ++i, ++next) {
        const double moved = offsets[next] + shift;
        mass_sum += masses[next];
        first += masses[next] * moved;
        second += masses[next] * moved * moved;
      }
      ASSERT_NEAR(chunk.mass, mass_sum, 1e-11);
      ASSERT_NEAR(chunk.first, first, 1e-11);
      ASSERT_NEAR(chunk.second, second, 1e-11);
    }
    ASSERT_EQ(next, n);
  }
  EXPECT_EQ(sums.chunk(0, 0).draws, 128);  // 3000 = 23 * 128 + 56
  EXPECT_EQ(sums.full(), 23u);
}

constexpr double place = 1e4;  // far from zero, with a different centre for every chain

std::vector<Chain> chains_far_from_zero() {
  Stream stream({.seed = 2}, Purpose::test);
  std::vector<Chain> chains;
  for (int c = 0; c < 4; ++c) {
    Chain& chain = chains.emplace_back(place + stream.normal(), 1.2);
    Autoregression process(stream);
    for (int i = 0; i < 4096; ++i) {
      process.next();
      std::vector<double> visited(process.visited.begin(), process.visited.end());
      for (double& y : visited) y += place;
      chain.add(place + process.x, visited);
    }
  }
  return chains;
}

TEST(RunningSummary, AgreesWithStoredDraws) {
  const std::vector<Chain> chains = chains_far_from_zero();
  const RunningEstimate running = estimate_of(chains);
  const auto draws = series_of(chains, &Chain::draws);
  const Estimate plain = plain_estimate(draws);
  EXPECT_EQ(running.plain.condition, DrawsCondition::ordinary);
  EXPECT_NEAR(running.plain.mean, plain.mean, 1e-8 * plain.sd);
  EXPECT_NEAR(running.plain.sd, plain.sd, 1e-8 * plain.sd);
  // All draws lie in full chunks, so that the halves are the same.
  EXPECT_NEAR(running.rhat, basic::rhat_basic(draws), 1e-8);
  // Two estimates of the same errors; the one from 64 chunks varies by a tenth.
  EXPECT_NEAR(std::log(running.plain.mcse_mean / plain.mcse_mean), 0, 0.4);
  EXPECT_NEAR(std::log(running.plain.mcse_sd / plain.mcse_sd), 0, 0.4);
  EXPECT_NEAR(running.plain.ess_mean, std::pow(running.plain.sd / running.plain.mcse_mean, 2),
              1e-6 * running.plain.ess_mean);
  for (std::size_t q = 0; q < plain.quantiles.size(); ++q) {
    EXPECT_EQ(running.plain.quantiles[q].probability, plain.quantiles[q].probability);
    // Type 7 lies between two neighbouring numbers, which are close here.
    EXPECT_NEAR(running.plain.quantiles[q].value, plain.quantiles[q].value,
                running.plain_bounds[q] + 0.01);
    EXPECT_TRUE(std::isnan(running.plain.quantiles[q].mcse));
    EXPECT_TRUE(std::isnan(running.plain.quantiles[q].ess));
  }
}

TEST(RunningSummary, AgreesWithStoredStates) {
  const std::vector<Chain> chains = chains_far_from_zero();
  const RunningEstimate running = estimate_of(chains);
  ASSERT_TRUE(running.recycled.has_value());
  double mean = 0, square = 0;
  std::size_t count = 0;
  for (const Chain& chain : chains) {
    for (const double y : chain.kept) mean += (y - place), ++count;
  }
  mean /= static_cast<double>(count);
  for (const Chain& chain : chains) {
    for (const double y : chain.kept) square += std::pow(y - place - mean, 2);
  }
  const double sd = std::sqrt(square / static_cast<double>(count) * 16384 / 16383);
  EXPECT_NEAR(running.recycled->mean, place + mean, 1e-8);
  EXPECT_NEAR(running.recycled->sd, sd, 1e-8);
  EXPECT_LT(running.recycled->mcse_mean, running.plain.mcse_mean);
  std::vector<KeptStates> kept;
  for (const Chain& chain : chains) {
    kept.push_back({{chain.kept.data(), chain.kept.size(), 1}, {}, chain.begins});
  }
  const std::vector<double> together = [&] {
    std::vector<double> all;
    for (const Chain& chain : chains) all.insert(all.end(), chain.kept.begin(), chain.kept.end());
    std::sort(all.begin(), all.end());
    return all;
  }();
  for (std::size_t q = 0; q < standard_probabilities.size(); ++q) {
    const auto rank = static_cast<std::size_t>(
        std::ceil(standard_probabilities[q] * static_cast<double>(together.size())));
    EXPECT_LE(std::abs(running.recycled->quantiles[q].value - together[rank - 1]),
              running.recycled_bounds[q]);
    EXPECT_LE(running.recycled_bounds[q], 1.2);
  }
}

TEST(RunningSummary, MassesMakeRatiosOfMeans) {
  Stream stream({.seed = 3}, Purpose::test);
  std::vector<Chain> chains(1, Chain(0.2, 1));
  double mass_sum = 0, sum = 0;
  Autoregression process(stream);
  for (int i = 0; i < 1000; ++i) {
    process.next();
    const double mass = 1 + static_cast<double>(stream.below(20));
    chains[0].add(process.x, process.visited, mass);
    mass_sum += mass;
    for (const double y : process.visited) sum += mass * y / 4;
  }
  const RunningEstimate running = estimate_of(chains);
  EXPECT_NEAR(running.recycled->mean, sum / mass_sum, 1e-12);

  // Only ratios matter: all masses tripled change nothing.
  std::vector<Chain> tripled(1, Chain(0.2, 1));
  for (std::size_t i = 0; i < chains[0].draws.size(); ++i) {
    tripled[0].add(chains[0].draws[i], std::span(chains[0].kept).subspan(4 * i, 4),
                   3 * chains[0].mass[i]);
  }
  const RunningEstimate again = estimate_of(tripled);
  EXPECT_NEAR(again.recycled->mean, running.recycled->mean, 1e-12);
  EXPECT_NEAR(again.recycled->sd, running.recycled->sd, 1e-12);
  EXPECT_NEAR(again.recycled->mcse_mean, running.recycled->mcse_mean, 1e-12);
  EXPECT_NEAR(again.recycled->mcse_sd, running.recycled->mcse_sd, 1e-12);
  EXPECT_NEAR(again.recycled->quantiles[3].value, running.recycled->quantiles[3].value, 1e-6);
}

// 400 replicates of 2 chains of 2048 draws, 16 chunks of 128 each. The mean squared error over the
// mean squared MCSE is distributed as F with 400 and 400 * 31 degrees of freedom, its logarithm has
// a standard deviation of 0.072; batch means of this process are 1.5% too small. Limits of 4
// standard deviations: five checks, a false alarm in 3000.
TEST(RunningSummary, ErrorsAreHonestOnAnAutoregression) {
  constexpr int replicates = 400;
  constexpr double limit = 4 * 0.072 + 0.015;
  struct Ratio {
    double errors = 0, claims = 0;
    void add(double error, double claim) {
      errors += error * error;
      claims += claim * claim;
    }
    double log() const { return std::log(errors / claims); }
  };
  Ratio plain_mean, plain_sd, recycled_mean, recycled_sd, pretended;
  double ess = 0;
  for (std::uint64_t seed = 0; seed < replicates; ++seed) {
    Stream stream({.seed = 100 + seed}, Purpose::test);
    std::vector<Chain> chains;
    for (int c = 0; c < 2; ++c) {
      Chain& chain = chains.emplace_back(stream.normal(), 1.2);
      Autoregression process(stream);
      for (int i = 0; i < 2048; ++i) {
        process.next();
        chain.add(process.x, process.visited);
      }
    }
    const RunningEstimate running = estimate_of(chains);
    plain_mean.add(running.plain.mean, running.plain.mcse_mean);
    plain_sd.add(running.plain.sd - Autoregression::sd(), running.plain.mcse_sd);
    recycled_mean.add(running.recycled->mean, running.recycled->mcse_mean);
    recycled_sd.add(running.recycled->sd - Autoregression::sd(), running.recycled->mcse_sd);
    pretended.add(running.plain.mean, running.plain.sd / std::sqrt(4096.0));
    ess += running.plain.ess_sd / replicates;
  }
  EXPECT_NEAR(plain_mean.log(), 0, limit);
  EXPECT_NEAR(plain_sd.log(), 0, limit);
  EXPECT_NEAR(recycled_mean.log(), 0, limit);
  EXPECT_NEAR(recycled_sd.log(), 0, limit);
  // The negative control: as if draws were independent.
  EXPECT_GT(pretended.log(), limit);
  // Squares of this process are correlated by phi^2 = 0.36; 1 / chi-square with 31 degrees of
  // freedom is 31/29 on average.
  EXPECT_NEAR(ess / (4096 * 0.64 / 1.36), 31.0 / 29, 0.06);
}

TEST(RunningSummary, ReportsWhatIsWrongWithDraws) {
  const auto chains_of = [](std::size_t count, auto value) {
    std::vector<Chain> chains(2, Chain(0, 1));
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t i = 0; i < count; ++i) {
        const double x = value(c, i);
        chains[c].add(x, {&x, 1});
      }
    }
    return chains;
  };
  const auto wave = [](std::size_t i) { return std::sin(static_cast<double>(i * i)); };
  const auto check = [](const std::vector<Chain>& chains, DrawsCondition expected) {
    const RunningEstimate running = estimate_of(chains);
    const auto draws = series_of(chains, &Chain::draws);
    EXPECT_EQ(check_draws(draws).condition, expected);
    for (const Estimate* estimate : {&running.plain, &*running.recycled}) {
      EXPECT_EQ(estimate->condition, expected);
      const bool ordinary = expected == DrawsCondition::ordinary;
      EXPECT_EQ(std::isnan(estimate->mcse_mean), !ordinary);
      EXPECT_EQ(std::isnan(estimate->mcse_sd), !ordinary);
      EXPECT_EQ(std::isnan(estimate->ess_mean), !ordinary);
      EXPECT_EQ(std::isnan(estimate->ess_sd), !ordinary);
    }
    EXPECT_EQ(std::isnan(running.rhat), expected != DrawsCondition::ordinary);
  };
  const auto ordinary = chains_of(100, [&](auto, auto i) { return wave(i); });
  check(ordinary, DrawsCondition::ordinary);
  check(chains_of(100, [](auto, auto) { return 0.1; }), DrawsCondition::constant);
  check(chains_of(100, [&](auto c, auto i) { return c == 0 ? 0.1 : wave(i); }),
        DrawsCondition::stuck);
  check(chains_of(100, [](auto c, auto) { return static_cast<double>(c); }), DrawsCondition::stuck);
  check(chains_of(3, [&](auto, auto i) { return wave(i); }), DrawsCondition::too_short);
  check(chains_of(0, [&](auto, auto i) { return wave(i); }), DrawsCondition::too_short);
  for (const double bad : {not_a_number, -std::numeric_limits<double>::infinity()}) {
    const auto spoilt = chains_of(100, [&](auto c, auto i) { return c + i == 55 ? bad : wave(i); });
    check(spoilt, DrawsCondition::not_finite);
    EXPECT_TRUE(std::isnan(estimate_of(spoilt).plain.quantiles[0].value));
  }
  // Ordinary, but too few chunks for errors: 7 of one draw each.
  const RunningEstimate few = estimate_of(chains_of(7, [&](auto, auto i) { return wave(i); }));
  EXPECT_EQ(few.plain.condition, DrawsCondition::ordinary);
  EXPECT_TRUE(std::isnan(few.plain.mcse_mean) && std::isnan(few.plain.ess_sd));
  EXPECT_TRUE(std::isnan(few.rhat));
  EXPECT_TRUE(std::isfinite(few.plain.mean) && std::isfinite(few.plain.sd));
}

TEST(RunningSummary, ChainsThatDisagreeShow) {
  Stream stream({.seed = 8}, Purpose::test);
  std::vector<Chain> chains(2, Chain(0, 1));
  for (int i = 0; i < 1024; ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      const double x = stream.normal() + (c == 0 ? 0 : 1);
      chains[c].add(x, {&x, 1});
    }
  }
  const RunningEstimate running = estimate_of(chains);
  EXPECT_NEAR(running.rhat, basic::rhat_basic(series_of(chains, &Chain::draws)), 1e-10);
  EXPECT_GT(running.rhat, 1.1);
  EXPECT_LT(running.plain.ess_mean, 20);
  EXPECT_LT(running.recycled->ess_mean, 20);
}

/// Independent autoregressions, one for every parameter.
struct AutoregressiveRun {
  std::size_t chains = 4;
  std::size_t draws = 100;
  double correlation = 0;
  double apart = 0;  ///< how far the first chain of the first parameter is off
  static constexpr std::size_t parameters = 25;

  /// Whether the R-hat of some parameter exceeds its limit.
  bool refused(std::uint64_t replicate) const {
    Stream stream({.seed = 700 + replicate}, Purpose::test);
    const std::vector<double> centre(parameters, 0.0);
    const std::vector<double> scale(parameters, 1.0);
    std::vector<RunningSummary> summaries(chains, RunningSummary(centre, scale, false));
    std::vector<const RunningSummary*> pointers;
    for (std::size_t c = 0; c < chains; ++c) {
      std::vector<double> x(parameters);
      for (double& value : x) value = stream.normal();
      for (std::size_t i = 0; i < draws; ++i) {
        std::vector<double> moved = x;
        if (c == 0) moved[0] += apart;
        summaries[c].add(moved, {}, {}, {});
        for (double& value : x) {
          value = correlation * value + std::sqrt(1 - correlation * correlation) * stream.normal();
        }
      }
      pointers.push_back(&summaries[c]);
    }
    bool any = false;
    for (std::size_t p = 0; p < parameters; ++p) {
      const RunningEstimate estimate = running_estimate(pointers, p, {});
      Convergence convergence;
      convergence.ess_within = estimate.ess_within;
      convergence.degrees_within = estimate.degrees_within;
      any = any || estimate.rhat > most_healthy_rhat(chains, draws, convergence, parameters);
    }
    return any;
  }
  int refused_of(std::uint64_t runs) const {
    int count = 0;
    for (std::uint64_t r = 0; r < runs; ++r) count += refused(r) ? 1 : 0;
    return count;
  }
};

// At the rate of 1%, more than 11 of 300 runs have a chance of 1e-4.
TEST(RunningSummary, TheLimitOfRhatKnowsTheLengthOfTheRun) {
  for (const double correlation : {-0.3, 0.0, 0.5}) {
    EXPECT_LE((AutoregressiveRun{.correlation = correlation}.refused_of(300)), 11) << correlation;
  }
  EXPECT_LE((AutoregressiveRun{.chains = 2, .draws = 200}.refused_of(300)), 11);
  EXPECT_LE((AutoregressiveRun{.draws = 300, .correlation = 0.5}.refused_of(300)), 11);
  EXPECT_LE((AutoregressiveRun{.chains = 8, .correlation = 0.5}.refused_of(300)), 11);
}

// With 100 draws there are 12 chunks in a half chain, which know the ESS less well than the draws
// do: 92% were measured; the bound is 3.7 standard errors away.
TEST(RunningSummary, TheLimitOfRhatStillFindsAChainThatIsOff) {
  EXPECT_GE((AutoregressiveRun{.apart = 1}.refused_of(100)), 82);
  EXPECT_GE((AutoregressiveRun{.draws = 1000, .apart = 0.5}.refused_of(50)), 49);
}

TEST(RunningSummary, ChainsOfDifferentLengthsWork) {
  Stream stream({.seed = 9}, Purpose::test);
  std::vector<Chain> chains(2, Chain(0, 1));
  double sum = 0;
  for (int i = 0; i < 1500; ++i) {
    const double x = stream.normal();
    chains[i < 1000 ? 0 : 1].add(x, {&x, 1});
    sum += x;
  }
  const RunningEstimate running = estimate_of(chains);
  EXPECT_NEAR(running.plain.mean, sum / 1500, 1e-12);
  EXPECT_GT(running.plain.ess_mean, 500);
  EXPECT_LT(running.rhat, 1.02);
}

TEST(RunningSummary, WithoutRecyclingHasNoRecycledHalf) {
  const std::vector<double> centre(3, 0.0), scale(3, 1.0);
  RunningSummary running(centre, scale, false);
  Stream stream({.seed = 10}, Purpose::test);
  std::vector<double> x(3);
  for (int i = 0; i < 64; ++i) {
    stream.fill_normal(x);
    running.add(x, {}, {}, {});
  }
  const RunningSummary* const chain = &running;
  for (std::size_t i = 0; i < 3; ++i) {
    const RunningEstimate estimate = running_estimate({&chain, 1}, i);
    EXPECT_FALSE(estimate.recycled.has_value());
    EXPECT_GT(estimate.plain.ess_mean, 0);
    EXPECT_EQ(estimate.plain.quantiles.size(), 7u);
  }
  EXPECT_TRUE(running_estimate({&chain, 1}, 0, {}).plain.quantiles.empty());
}

TEST(RunningSummary, ContinuesFromAnArchive) {
  constexpr std::size_t dimension = 37;
  Stream stream({.seed = 11}, Purpose::test);
  std::vector<double> centre(dimension), scale(dimension, 0.8);
  stream.fill_normal(centre);
  std::vector<std::vector<double>> x(200, std::vector<double>(dimension));
  for (auto& position : x) stream.fill_normal(position);
  const auto add = [&](RunningSummary& summary, std::size_t i) {
    const std::vector<WeightedState> kept{{{x[i], {}, 0}, 0.25}, {{x[(i + 7) % 200], {}, 0}, 0.75}};
    summary.add(x[i], x[(i + 1) % 200], x[(i + 2) % 200], kept, 2);
  };
  RunningSummary straight(centre, scale, true);
  for (std::size_t i = 0; i < 200; ++i) add(straight, i);

  RunningSummary first(centre, scale, true);
  for (std::size_t i = 0; i < 77; ++i) add(first, i);
  ArchiveWriter stored;
  stored(first);
  RunningSummary second;
  ArchiveReader reader(stored.bytes());
  reader(second);
  EXPECT_EQ(reader.left(), 0u);
  for (std::size_t i = 77; i < 200; ++i) add(second, i);

  ArchiveWriter expected, found;
  expected(straight);
  found(second);
  EXPECT_TRUE(expected.bytes() == found.bytes());
  EXPECT_EQ(second.count(), 200u);
}

/// Of two coordinates, in the order of RunningSummary::archive().
struct StoredSummary {
  bool recycling = true;
  std::vector<double> centre{0, 0};
  ChunkSums plain{2}, recycled{2};
  BinnedQuantiles plain_bins{centre, centre}, recycled_bins{centre, centre};
  std::vector<double> third{0, 0}, fourth{0, 0};

  bool restores() const {
    ArchiveWriter writer;
    writer(recycling, centre, plain, recycled, plain_bins, recycled_bins, third, fourth);
    try {
      ArchiveReader(writer.bytes()).get<RunningSummary>();
      return true;
    } catch (const DataError&) {
      return false;
    }
  }
};

/// Sums that say they are of so many dimensions and so many full chunks.
ChunkSums stored_sums(std::uint64_t dimension, std::uint64_t full, std::uint64_t filled,
                      std::size_t gradients) {
  ArchiveWriter writer;
  const std::vector<double> sums(ChunkSums::most_chunks * 2);
  writer(dimension, std::uint64_t{4}, full, filled, std::vector<double>(ChunkSums::most_chunks),
         sums, sums, std::vector<double>(gradients),
         std::vector<float>(gradients * 3 * ChunkSums::most_chunks));
  return ArchiveReader(writer.bytes()).get<ChunkSums>();
}

TEST(RunningSummary, IsNotRestoredFromSumsThatDoNotFit) {
  EXPECT_TRUE(StoredSummary{}.restores());
  EXPECT_TRUE((StoredSummary{.recycled = stored_sums(2, 3, 1, 2)}.restores()));
  EXPECT_TRUE((StoredSummary{.recycling = false, .recycled = {}, .recycled_bins = {}}.restores()));
  const std::vector<double> one{0};
  const BinnedQuantiles other(one, one);
  for (const StoredSummary& broken : {
           StoredSummary{.plain = ChunkSums(1)},
           StoredSummary{.recycled = ChunkSums(3)},
           StoredSummary{.recycled = {}},
           StoredSummary{.plain_bins = other},
           StoredSummary{.recycled_bins = other},
           StoredSummary{.third = one},
           StoredSummary{.fourth = one},
           StoredSummary{.plain = stored_sums(2, 3, 1, 2)},
           StoredSummary{.recycled = stored_sums(3, 3, 1, 0)},
           StoredSummary{.recycled = stored_sums(2, ChunkSums::most_chunks, 1, 0)},
           StoredSummary{.recycled = stored_sums(2, 3, 4, 0)},
           StoredSummary{.recycled = stored_sums(2, 3, 1, 1)},
           StoredSummary{.recycling = false, .recycled = stored_sums(2, 3, 1, 2)},
       }) {
    EXPECT_FALSE(broken.restores());
  }
}

TEST(RunningSummary, TakesBoundedMemory) {
  constexpr std::size_t dimension = 1000;
  const std::vector<double> centre(dimension), scale(dimension, 1.0);
  RunningSummary running(centre, scale, true);
  const std::size_t at_first = running.bytes();
  // Four chains of 10^5 coordinates.
  EXPECT_LT(4 * 100.0 * static_cast<double>(at_first), 1.0e9);
  EXPECT_LT(static_cast<double>(RunningSummary(centre, scale, false).bytes()),
            0.51 * static_cast<double>(at_first));
  // Everything is counted except for a few sizes.
  ArchiveWriter stored;
  stored(running);
  EXPECT_NEAR(static_cast<double>(stored.bytes().size()), static_cast<double>(at_first), 500);
  std::vector<double> x(dimension);
  Stream stream({.seed = 12}, Purpose::test);
  for (int i = 0; i < 300; ++i) {
    stream.fill_normal(x);
    const WeightedState kept{{x, {}, 0}, 1};
    running.add(x, x, x, {&kept, 1});
  }
  EXPECT_EQ(running.bytes(), at_first);
}

TEST(RunningSummary, RejectsInconsistentChains) {
  const std::vector<double> two{0, 0}, three{0, 0, 0}, ones{1, 1, 1};
  const RunningSummary a(two, std::span(ones).first(2), true);
  const RunningSummary b(three, ones, true);
  const RunningSummary c(two, std::span(ones).first(2), false);
  const auto estimate = [](std::vector<const RunningSummary*> chains) {
    return running_estimate(chains, 0);
  };
  EXPECT_THROW(estimate({}), DataError);
  EXPECT_THROW(estimate({&a, &b}), DataError);
  EXPECT_THROW(estimate({&a, &c}), DataError);
}

}  // namespace
}  // namespace rehmc::running_test
