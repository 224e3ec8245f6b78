// Pools of buffers for states and momenta: everything is reused, nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "rehmc/core/state.hpp"

namespace rehmc {

/// Vectors are padded with zeros to whole groups of this many numbers, so that loops need no tail.
inline constexpr std::size_t lane_count = 8;

/// Length of a vector with its padding.
constexpr std::size_t padded(std::size_t dimension) {
  return (dimension + lane_count - 1) / lane_count * lane_count;
}

/// Distance between consecutive vectors: one cache line more than they need, so
/// that equal coordinates of different vectors do not fall on the same cache sets.
constexpr std::size_t vector_stride(std::size_t dimension) {
  return padded(dimension) + lane_count;
}

/// Zeroed, aligned blocks of equal size, handed out and taken back last in, first out.
class BlockPool {
 public:
  using Handle = std::uint32_t;

  explicit BlockPool(std::size_t doubles_per_block);

  Handle take() {
    if (free_count_ == 0) grow();
    return free_[--free_count_];
  }
  void release(Handle handle) { release_if(handle, true); }
  /// Takes the block back if the condition holds, without a branch.
  void release_if(Handle handle, bool condition) {
    free_[free_count_] = handle;
    free_count_ += condition;
  }

  double* data(Handle handle) { return blocks_[handle]; }
  const double* data(Handle handle) const { return blocks_[handle]; }

  /// Blocks ever made.
  std::size_t capacity() const { return blocks_.size(); }
  /// Blocks handed out now.
  std::size_t in_use() const { return blocks_.size() - free_count_; }

 private:
  struct Deleter {
    void operator()(double* data) const { ::operator delete[](data, std::align_val_t{64}); }
  };

  void grow();

  std::size_t doubles_per_block_;
  std::vector<std::unique_ptr<double[], Deleter>> slabs_;
  std::vector<double*> blocks_;
  std::vector<Handle> free_;  ///< one place more than there are blocks, so that release never looks
  std::size_t free_count_ = 0;
};

/// States with a count of who still needs them. A state is position, gradient, log density; its
/// energy is that of the trajectory it was reached by.
class StatePool {
 public:
  using Handle = BlockPool::Handle;

  explicit StatePool(std::size_t dimension)
      : dimension_(dimension), stride_(vector_stride(dimension)), blocks_(2 * stride_) {}

  /// A state with one reference.
  Handle take() {
    const Handle handle = blocks_.take();
    if (handle >= records_.size()) records_.resize(blocks_.capacity());
    records_[handle].references = 1;
    return handle;
  }
  void retain(Handle handle) { ++records_[handle].references; }
  void release(Handle handle) { blocks_.release_if(handle, --records_[handle].references == 0); }

  std::size_t dimension() const { return dimension_; }
  double* position(Handle handle) { return blocks_.data(handle); }
  const double* position(Handle handle) const { return blocks_.data(handle); }
  double* gradient(Handle handle) { return blocks_.data(handle) + stride_; }
  const double* gradient(Handle handle) const { return blocks_.data(handle) + stride_; }
  double& log_density(Handle handle) { return records_[handle].log_density; }
  double& energy(Handle handle) { return records_[handle].energy; }

  StateView view(Handle handle) const {
    return {{position(handle), dimension_},
            {gradient(handle), dimension_},
            records_[handle].log_density};
  }

  std::size_t in_use() const { return blocks_.in_use(); }

 private:
  struct Record {
    std::uint32_t references = 0;
    double log_density = 0;
    double energy = 0;
  };

  std::size_t dimension_;
  std::size_t stride_;
  BlockPool blocks_;
  std::vector<Record> records_;
};

}  // namespace rehmc
