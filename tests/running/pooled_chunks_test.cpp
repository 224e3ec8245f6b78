// Long-run variances from the chunks of several chains, against exact values.
#include "src/running/pooled_chunks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rehmc::pooled_chunks_test {
namespace {

using Values = std::vector<double>;

/// Chains with these draws, each repeated `repeats` times, and their chunks of `repeats` draws.
struct Chains {
  std::vector<RunningSummary> chains;
  std::vector<const RunningSummary*> pointers;

  explicit Chains(const std::vector<Values>& draws, int repeats = 1) {
    const double centre = 0;
    const double scale = 1;
    for (const Values& of_chain : draws) {
      RunningSummary& chain =
          chains.emplace_back(std::span(&centre, 1), std::span(&scale, 1), false);
      for (const double x : of_chain) {
        for (int k = 0; k < repeats; ++k) chain.add({&x, 1}, {}, {}, {});
      }
    }
    for (const RunningSummary& chain : chains) pointers.push_back(&chain);
  }

  /// Of draws whose mean is 0.
  double long_run_variance(Neighbours neighbours) const {
    const PooledChunks pooled(pointers, 0, &RunningSummary::plain);
    const auto sums = pooled.over_full([](const ChunkSums::Chunk& chunk) { return chunk.first; });
    return pooled.long_run_variance(sums, neighbours);
  }
};

/// Eight draws: the squares sum to 8, the products of neighbours to 3 - 1 + 3 = 5.
const Values slow{1, 1, 1, 1, -1, -1, -1, -1};

// The variance of a sum has every covariance twice: 8 + 2 * 5 in each chain, over 16 - 1. The
// second chain begins as the first one ends: draws of different chains are not neighbours.
TEST(PooledChunks, NeighboursCountTwice) {
  const Chains two({slow, {-1, -1, -1, -1, 1, 1, 1, 1}});
  EXPECT_DOUBLE_EQ(two.long_run_variance(Neighbours::ignored), 16.0 / 15);
  EXPECT_DOUBLE_EQ(two.long_run_variance(Neighbours::counted), 36.0 / 15);
}

// Chunks of 2 equal draws have twice the sums, hence 4 times the products, each over 2 draws.
TEST(PooledChunks, LongerChunksCountByTheirDraws) {
  Values twice = slow;
  twice.insert(twice.end(), slow.rbegin(), slow.rend());
  // 32 draws have 16 chunks of 2. The two halves meet with -1 and -1: products 5 + 1 + 5.
  const Chains one({twice}, 2);
  ASSERT_EQ(one.chains.front().plain().full(), 16u);
  EXPECT_DOUBLE_EQ(one.long_run_variance(Neighbours::ignored), 2 * 16.0 / 15);
  EXPECT_DOUBLE_EQ(one.long_run_variance(Neighbours::counted), 2 * (16.0 + 2 * 11) / 15);
}

// Negative products never lower a variance.
TEST(PooledChunks, AlternatingChunksAreNotCounted) {
  const Chains one({{1, -1, 1, -1, 1, -1, 1, -1}});
  EXPECT_DOUBLE_EQ(one.long_run_variance(Neighbours::counted), 8.0 / 7);
}

// MCSE^2 = long-run variance / draws. Halves of a chain that disagree have sums of 4 and -4 over 4
// draws each: 2 * 4 over one degree of freedom, more than the chunks show.
TEST(PooledChunks, ErrorIsTheLongRunVariancePerDraw) {
  const Chains one({slow});
  const PooledChunks pooled(one.pointers, 0, &RunningSummary::plain);
  EXPECT_DOUBLE_EQ(pooled.squared_error(slow, false), 8.0 / 7 / 8);
  EXPECT_DOUBLE_EQ(pooled.squared_error(slow, false, Neighbours::counted), 18.0 / 7 / 8);
  EXPECT_DOUBLE_EQ(pooled.squared_error(slow, true), 8.0 / 8);
}

}  // namespace
}  // namespace rehmc::pooled_chunks_test
