// A keeper of states behind virtual functions, for transitions whose speed does not matter.
#pragma once

#include <cstdint>
#include <memory>

#include "rehmc/core/direction.hpp"
#include "rehmc/dynamics/pool.hpp"

namespace rehmc {

/// The keeper of trajectory/tree.hpp, so that trees and paths are compiled once for all of them.
class ErasedKeeper {
 public:
  using Handle = StatePool::Handle;

  virtual ~ErasedKeeper() = default;
  virtual void start(Handle state, double weight) = 0;
  virtual void begin_half(Direction direction, std::uint64_t leaves) = 0;
  virtual void leaf(Handle state, double weight) = 0;
  virtual void join() = 0;
  virtual void subtree(Handle selected, double weight, std::uint64_t leaves) = 0;
  virtual void rescale_half(double factor) = 0;
  virtual void commit(Direction direction, double tree_factor, double half_factor) = 0;
  virtual void drop_half() = 0;
};

/// Passes everything on to a keeper.
template <class K>
class Erased final : public ErasedKeeper {
 public:
  explicit Erased(K keeper) : keeper_(keeper) {}
  void start(Handle state, double weight) override { keeper_.start(state, weight); }
  void begin_half(Direction direction, std::uint64_t leaves) override {
    keeper_.begin_half(direction, leaves);
  }
  void leaf(Handle state, double weight) override { keeper_.leaf(state, weight); }
  void join() override { keeper_.join(); }
  void subtree(Handle selected, double weight, std::uint64_t leaves) override {
    keeper_.subtree(selected, weight, leaves);
  }
  void rescale_half(double factor) override { keeper_.rescale_half(factor); }
  void commit(Direction direction, double tree_factor, double half_factor) override {
    keeper_.commit(direction, tree_factor, half_factor);
  }
  void drop_half() override { keeper_.drop_half(); }

 private:
  K keeper_;
};

/// A function, not a lambda: from within one, clang 14 emits no virtual functions.
template <class K>
std::unique_ptr<ErasedKeeper> erased(K keeper) {
  return std::make_unique<Erased<K>>(keeper);
}

}  // namespace rehmc
