// The pools: ownership, reuse, and padding that stays zero.
#include "rehmc/dynamics/pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace rehmc::pool_test {
namespace {

TEST(Pool, PadsToWholeGroups) {
  EXPECT_EQ(padded(1), 8U);
  EXPECT_EQ(padded(7), 8U);
  EXPECT_EQ(padded(8), 8U);
  EXPECT_EQ(padded(9), 16U);
  EXPECT_EQ(padded(250), 256U);
  for (std::size_t d = 1; d < 100; ++d) {
    EXPECT_GE(vector_stride(d), padded(d));
    EXPECT_EQ(vector_stride(d) % lane_count, 0U);
  }
}

TEST(Pool, BlocksAreZeroedAlignedAndApart) {
  for (const std::size_t doubles : {8U, 16U, 264U, 4096U, 5000U, 100008U}) {
    BlockPool pool(doubles);
    std::set<double*> seen;
    for (int k = 0; k < 40; ++k) {
      double* block = pool.data(pool.take());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
      for (std::size_t i = 0; i < doubles; ++i) ASSERT_EQ(block[i], 0.0);
      for (double* other : seen) EXPECT_TRUE(block + doubles <= other || other + doubles <= block);
      seen.insert(block);
      block[0] = 1;  // would show in a block that overlaps
      block[doubles - 1] = 1;
    }
    EXPECT_EQ(pool.in_use(), 40U);
  }
}

TEST(Pool, TakesBackLastInFirstOutAndGrowsOnlyWhenEmpty) {
  BlockPool pool(5000);
  const auto a = pool.take();
  const auto b = pool.take();
  EXPECT_EQ(pool.capacity(), 2U);
  double* first = pool.data(a);
  pool.release(a);
  pool.release(b);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.take(), a);
  EXPECT_EQ(pool.data(a), first);
  EXPECT_EQ(pool.capacity(), 2U);
  pool.take();
  EXPECT_EQ(pool.capacity(), 3U);
  EXPECT_EQ(pool.data(a), first);  // growth moves nothing
}

TEST(Pool, StateLivesWhileSomebodyHoldsIt) {
  StatePool pool(9);
  const auto state = pool.take();
  pool.retain(state);
  pool.retain(state);
  EXPECT_EQ(pool.in_use(), 1U);
  pool.release(state);
  pool.release(state);
  EXPECT_EQ(pool.in_use(), 1U);
  const auto other = pool.take();
  EXPECT_NE(other, state);
  pool.release(state);
  EXPECT_EQ(pool.in_use(), 1U);
  EXPECT_EQ(pool.take(), state);  // reused, with one reference
  pool.release(state);
  EXPECT_EQ(pool.in_use(), 1U);
  pool.release(other);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Pool, StateHoldsPositionGradientAndLogDensityApart) {
  StatePool pool(9);
  std::vector<StatePool::Handle> handles;
  for (int k = 0; k < 100; ++k) {
    const auto handle = handles.emplace_back(pool.take());
    for (std::size_t i = 0; i < 9; ++i) {
      pool.position(handle)[i] = k + static_cast<double>(i) / 16;
      pool.gradient(handle)[i] = -k - static_cast<double>(i) / 16;
    }
    pool.log_density(handle) = 1000 + k;
    pool.energy(handle) = 2000 + k;
  }
  for (int k = 0; k < 100; ++k) {
    const auto handle = handles[static_cast<std::size_t>(k)];
    const StateView view = pool.view(handle);
    ASSERT_EQ(view.position.size(), 9U);
    ASSERT_EQ(view.gradient.size(), 9U);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(view.position[i], k + static_cast<double>(i) / 16);
      EXPECT_EQ(view.gradient[i], -k - static_cast<double>(i) / 16);
    }
    EXPECT_EQ(view.log_density, 1000 + k);
    EXPECT_EQ(pool.energy(handle), 2000 + k);
    for (std::size_t i = 9; i < padded(9); ++i) {
      EXPECT_EQ(pool.position(handle)[i], 0.0);
      EXPECT_EQ(pool.gradient(handle)[i], 0.0);
    }
  }
}

}  // namespace
}  // namespace rehmc::pool_test
