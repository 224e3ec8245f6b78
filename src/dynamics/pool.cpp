// Growth of the buffer pools.
#include "rehmc/dynamics/pool.hpp"

#include <algorithm>

namespace rehmc {

namespace {
// Small blocks come many to a slab, so that small problems stay close together in memory; large
// ones come alone, so that no more memory is held than was ever in use at once.
constexpr std::size_t slab_doubles = 4096;
}  // namespace

BlockPool::BlockPool(std::size_t doubles_per_block) : doubles_per_block_(doubles_per_block) {}

void BlockPool::grow() {
  const std::size_t count = std::max<std::size_t>(1, slab_doubles / doubles_per_block_);
  const std::size_t doubles = count * doubles_per_block_;
  std::unique_ptr<double[], Deleter> slab(
      static_cast<double*>(::operator new[](doubles * sizeof(double), std::align_val_t{64})));
  std::fill_n(slab.get(), doubles, 0.0);
  const std::size_t first = blocks_.size();
  for (std::size_t i = 0; i < count; ++i) blocks_.push_back(slab.get() + i * doubles_per_block_);
  free_.resize(blocks_.size() + 1);
  for (std::size_t i = count; i-- > 0;) release(static_cast<Handle>(first + i));
  slabs_.push_back(std::move(slab));
}

}  // namespace rehmc
