// Heap use of a chain: no allocation per transition after the first few, and a bound on the peak.
//
// The global operators new and delete of this test program count; only the tests below read the
// counts.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "models/standard_normal.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "tests/kernel/mechanics.hpp"

namespace {

std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> live_bytes = 0;
std::atomic<std::size_t> peak_bytes = 0;

void* counted(void* memory) {
  if (memory == nullptr) return nullptr;
  ++allocations;
  // The size that the allocator really reserved: no header is needed, so sanitizers see the true
  // blocks.
  const std::size_t now = live_bytes += malloc_usable_size(memory);
  std::size_t peak = peak_bytes;
  while (peak < now && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void* allocate(std::size_t size) noexcept { return counted(std::malloc(size == 0 ? 1 : size)); }

void* allocate_aligned(std::size_t size, std::align_val_t alignment) noexcept {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(
      std::aligned_alloc(unit, (size + unit - 1) / unit * unit + (size == 0 ? unit : 0)));
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void deallocate(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(allocate(size)); }
void* operator new[](std::size_t size) { return or_throw(allocate(size)); }
void* operator new(std::size_t size, std::align_val_t a) {
  return or_throw(allocate_aligned(size, a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return or_throw(allocate_aligned(size, a));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_aligned(size, a);
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_aligned(size, a);
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete[](void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { deallocate(memory); }
void operator delete[](void* memory, std::size_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { deallocate(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { deallocate(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  deallocate(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  deallocate(memory);
}

namespace rehmc::memory_heap_test {
namespace {

using testing::address;
using testing::every_kernel;
using testing::every_recycling;
using testing::kernel_at_start;
using testing::kernel_settings;
using testing::Numbers;

TEST(Heap, IsCounted) {
  const std::size_t before = allocations;
  const std::size_t live = live_bytes;
  {
    const Numbers numbers(1000);
    BlockPool pool(5000);
    pool.take();
    EXPECT_GE(allocations - before, 2U);
    EXPECT_GE(live_bytes - live, 48000U);
    EXPECT_GE(peak_bytes, live_bytes);
  }
  EXPECT_EQ(live_bytes, live);
}

// Trees of all sizes, divergences by energy, and every metric for which a kernel holds additional
// blocks.
TEST(Heap, IsNotUsedByATransitionAfterTheFirstFew) {
  constexpr std::size_t dimension = 9;
  const MomentFeatures moments(Numbers(dimension, 0.1));
  const testing::Walled target(dimension, 1.5, Fault::none);
  for (const KernelKind kind : every_kernel) {
    for (const Recycling& recycling : every_recycling(kind)) {
      for (const Tuning& tuning :
           {testing::diagonal_tuning(dimension, 0.2), testing::dense_tuning(dimension, 0.2)}) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
        KernelSettings settings = kernel_settings(kind, recycling);
        settings.nuts.max_depth = 4;
        settings.hmc.path_steps = 3;
        settings.hmc.path_steps_most = 16;
        auto kernel = kernel_at_start(target, settings);
        kernel->use_features(&moments);
        std::uint64_t i = 0;
        for (; i < 60; ++i) kernel->transition(tuning, address(i));
        const std::size_t before = allocations;
        for (; i < 260; ++i) kernel->transition(tuning, address(i));
        EXPECT_EQ(allocations - before, 0U);
      }
    }
  }
}

/// The peak memory of a chain, in vectors of its dimension, including metric and features: full
/// trees of depth 10 on a standard normal, with steps so short that nothing turns.
double peak_vectors(const Recycling& recycling) {
  constexpr std::size_t dimension = 100'000;
  const std::size_t before = live_bytes;
  peak_bytes = before;
  {
    const MomentFeatures moments(Numbers(dimension, 0.0));
    auto kernel =
        make_kernel(StandardNormal(dimension), kernel_settings(KernelKind::nuts, recycling));
    {
      const Numbers start(dimension, 0.5);
      kernel->set_position(start);
    }
    kernel->use_features(&moments);
    const Tuning tuning = testing::diagonal_tuning(dimension, 1e-4);
    for (std::uint64_t i = 0; i < 2; ++i) {
      const Transition& transition = kernel->transition(tuning, address(i));
      EXPECT_EQ(transition.leapfrogs, 1023U);
      EXPECT_EQ(transition.ending, Ending::depth_limit);
    }
  }
  return static_cast<double>(peak_bytes - before) / (dimension * sizeof(double));
}

TEST(Heap, OfALargeChainIsBounded) {
  const double none = peak_vectors({RecyclingKind::none});
  const double spread = peak_vectors({RecyclingKind::spread, 8});
  RecordProperty("vectors_none", std::to_string(none));
  RecordProperty("vectors_spread_8", std::to_string(spread));
  EXPECT_LT(none, 80);
  EXPECT_LT(spread, 250);
  // At least two ends, the start and the selected state are held, so the count is not zero.
  EXPECT_GT(none, 10);
  EXPECT_GT(spread, none);
}

}  // namespace
}  // namespace rehmc::memory_heap_test
