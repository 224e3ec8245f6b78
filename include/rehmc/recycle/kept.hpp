// What a recycler holds while a trajectory grows: weighted states, subtree by subtree.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include "rehmc/trajectory/tree.hpp"

namespace rehmc {

/// Whoever owns the states and counts who still needs each of them.
template <class S>
concept SharedStates = requires(S& states, typename S::Handle handle) {
  states.retain(handle);
  states.release(handle);
};

/// A kept state and its weight; every entry holds one reference to its state.
template <class Handle>
struct Entry {
  Handle state;
  double weight;
};

/// The entries of the committed tree in path order, and of the growing half in the order of its
/// growth.
template <SharedStates States>
class Kept {
 public:
  using Handle = typename States::Handle;
  using Entries = std::vector<Entry<Handle>>;

  explicit Kept(States& states) : states_(&states) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  States& states() { return *states_; }
  Entries& tree() { return tree_; }
  const Entries& tree() const { return tree_; }
  Entries& half() { return half_; }
  const Entries& half() const { return half_; }

  void start(Handle state, double weight) { append(tree_, state, weight); }
  void begin_half() { half_.clear(); }

  void rescale_half(double factor) { rescale(half_, factor); }

  /// Appends the half to the tree in the order of the path. What a factor of 0 makes impossible to
  /// choose is no longer held.
  void commit(Direction direction, double tree_factor, double half_factor) {
    if (tree_factor != 1) rescale_or_release(tree_, tree_factor);
    if (half_factor != 1) rescale_or_release(half_, half_factor);
    if (direction == Direction::backward) {
      tree_.insert(tree_.begin(), half_.rbegin(), half_.rend());
    } else {
      tree_.insert(tree_.end(), half_.begin(), half_.end());
    }
    half_.clear();
  }

  void drop_half() { release(half_); }

  void clear() {
    release(tree_);
    release(half_);
  }

  /// A state that cannot be chosen is not held.
  void append(Entries& entries, Handle state, double weight) {
    if (!(weight > 0)) return;
    states_->retain(state);
    entries.push_back({state, weight});
  }

 private:
  static void rescale(Entries& entries, double factor) {
    for (auto& entry : entries) entry.weight *= factor;
  }
  void rescale_or_release(Entries& entries, double factor) {
    if (factor == 0) return release(entries);
    rescale(entries, factor);
  }
  void release(Entries& entries) {
    for (auto& entry : entries) states_->release(entry.state);
    entries.clear();
  }

  States* states_;
  Entries tree_;
  Entries half_;
};

}  // namespace rehmc
