// The choices of what to keep of a weighted trajectory: none, all, spread, simple.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/recycle/kept.hpp"
#include "rehmc/recycle/systematic.hpp"

namespace rehmc {

/// Keeps nothing of a trajectory.
class KeepNone {
 public:
  template <class Handle>
  void start(Handle, double) {}
  void begin_half(Direction, std::uint64_t) {}
  template <class Handle>
  void leaf(Handle, double) {}
  void join() {}
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double) {}
  void commit(Direction, double, double) {}
  void drop_half() {}
};

/// Every state with its weight: the Rao-Blackwellized recycling of Nishimura & Dunson (2020),
/// Algorithm 3, where all of |A| acceptable states weigh 1/|A|, for any weights.
template <SharedStates States>
class KeepEvery {
 public:
  using Handle = typename States::Handle;
  explicit KeepEvery(States& states) : kept_(states) {}

  void begin(const Stream&) { kept_.clear(); }
  void start(Handle state, double weight) { kept_.start(state, weight); }
  void begin_half(Direction, std::uint64_t) { kept_.begin_half(); }
  void leaf(Handle state, double weight) { kept_.append(kept_.half(), state, weight); }
  void join() {}
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double factor) { kept_.rescale_half(factor); }
  void commit(Direction direction, double tree_factor, double half_factor) {
    kept_.commit(direction, tree_factor, half_factor);
  }
  void drop_half() { kept_.drop_half(); }

  /// The kept states in path order, their weights summing to 1.
  const std::vector<Entry<Handle>>& finish() {
    double total = 0;
    for (const auto& entry : kept_.tree()) total += entry.weight;
    for (auto& entry : kept_.tree()) entry.weight /= total;
    return kept_.tree();
  }
  void clear() { kept_.clear(); }

 private:
  Kept<States> kept_;
};

/// With more slots than this, and fewer states than slots, a state that fills several slots is kept
/// once with their weight: copies would only take time and space.
inline constexpr std::size_t most_copies = 64;

/// Who draws the state that a cell of `spread` keeps.
enum class CellDraw {
  tree,  ///< the selection of the tree: a cell is a subtree, of which it has drawn a state anyway
  own    ///< the recycler: a path has no selection
};

/// K equally weighted states, evenly spread along the path: systematic sampling in path order. It
/// serves the purpose of Algorithm 6 of Nishimura & Dunson (2020) better: valid for any weights,
/// and spread evenly along the whole path instead of subtree by subtree. A half is cut into cells
/// of equally many consecutive states; a cell keeps one of its states, drawn by weight, with the
/// weight of the whole cell. Before the next half grows, systematic sampling in path order reduces
/// the tree to K. So the expected number of slots of a state is K times its weight. A path has at
/// most K cells, a half of a tree less than 2K (its cells are subtrees), so that never more than 3K
/// states are held: 2K if K is a power of two.
template <SharedStates States, class Random = Stream>
class KeepSpread {
 public:
  using Handle = typename States::Handle;
  KeepSpread(States& states, std::size_t count, CellDraw draw)
      : kept_(states), count_(count), draw_(draw), stream_(Address{}, Purpose::recycling) {}

  void begin(const Random& stream) {
    kept_.clear();
    stream_ = stream;
  }
  void start(Handle state, double weight) { kept_.start(state, weight); }
  void begin_half(Direction, std::uint64_t leaves) {
    if (kept_.tree().size() > count_) {
      sample_systematically(kept_.tree(), count_, stream_.uniform(),
                            [&](const auto& entry) { kept_.states().release(entry.state); });
    }
    kept_.begin_half();
    cell_size_ = draw_ == CellDraw::tree
                     ? std::bit_floor(std::max<std::uint64_t>(1, leaves / count_))
                     : (leaves + count_ - 1) / count_;
    end_cell();
  }
  void leaf(Handle state, double weight) {
    if (draw_ == CellDraw::tree) {
      if (cell_size_ == 1) kept_.append(kept_.half(), state, weight);
    } else {
      draw(state, weight);
    }
  }
  void join() {}
  template <class Selected>
  void subtree(const Selected& selected, double weight, std::uint64_t leaves) {
    if (leaves == cell_size_ && weight > 0) kept_.append(kept_.half(), selected, weight);
  }
  void rescale_half(double factor) { kept_.rescale_half(factor); }
  void commit(Direction direction, double tree_factor, double half_factor) {
    kept_.commit(direction, tree_factor, half_factor);
  }
  void drop_half() { kept_.drop_half(); }

  /// Exactly K slots of weight 1/K, in random order so that even a single slot follows the target;
  /// or, with many more slots than states, the states with the weights of their slots.
  const std::vector<Entry<Handle>>& finish() {
    const auto& entries = kept_.tree();
    if (count_ > most_copies && count_ > entries.size()) return merged_slots();
    // How many points an entry has cannot be predicted, so no branch is made of it: the entry of a
    // slot is the number of entries whose points end before it.
    ends_.assign(count_ + 1, 0);
    std::ptrdiff_t laid = 0;
    lay_points(entries, count_, stream_.uniform(), [&](std::size_t, double points) {
      laid += static_cast<std::ptrdiff_t>(points);
      ++ends_[static_cast<std::size_t>(laid)];
    });
    slots_.resize(count_);
    const double weight = 1.0 / static_cast<double>(count_);
    std::size_t i = 0;
    for (std::size_t slot = 0; slot < count_; ++slot) {
      i += ends_[slot];
      slots_[slot] = {entries[i].state, weight};
    }
    stream_.shuffle(std::span(slots_));
    return slots_;
  }
  void clear() {
    release_loser();
    kept_.clear();
  }

  /// What it holds while the trajectory grows.
  const Kept<States>& kept() const { return kept_; }

 private:
  const std::vector<Entry<Handle>>& merged_slots() {
    slots_.clear();
    lay_points(kept_.tree(), count_, stream_.uniform(), [&](std::size_t i, double points) {
      if (points == 0) return;
      slots_.push_back({kept_.tree()[i].state, points / static_cast<double>(count_)});
    });
    return slots_;
  }
  void draw(Handle state, double weight) {
    release_loser();
    if (weight > 0) {
      if (cell_begun_) {
        auto& entry = kept_.half().back();
        entry.weight += weight;
        const bool take = stream_.chance(weight / entry.weight);
        kept_.states().retain(state);
        // Looked up, since compilers make a branch of a choice, and which state a cell keeps cannot
        // be predicted.
        const Handle both[] = {entry.state, state};
        entry.state = both[take];
        loser_ = both[!take];
      } else {
        kept_.append(kept_.half(), state, weight);
        cell_begun_ = true;
      }
    }
    if (++cell_leaves_ == cell_size_) end_cell();
  }
  /// One step late: if the buffer were free at once, the next step would wait for the weight of
  /// this one, on which it depends whose buffer that is.
  void release_loser() {
    if (!loser_) return;
    kept_.states().release(*loser_);
    loser_.reset();
  }
  void end_cell() {
    cell_leaves_ = 0;
    cell_begun_ = false;
  }

  Kept<States> kept_;
  std::size_t count_;
  CellDraw draw_;
  Random stream_;
  std::uint64_t cell_size_ = 1;
  std::uint64_t cell_leaves_ = 0;    ///< of the last cell, so far
  bool cell_begun_ = false;          ///< whether it has a state yet
  std::optional<Handle> loser_;      ///< of the last draw within a cell; still holds its reference
  std::vector<std::uint32_t> ends_;  ///< how many entries have their last point before each slot
  std::vector<Entry<Handle>> slots_;
};

/// Merges two uniformly ordered samples without replacement, the first of n_left and the second of
/// n_right items, into a uniformly ordered sample of min(count, n_left + n_right) of their union:
/// each next item comes from the left with probability (left over there) / (left over in all).
/// `from_left(probability)` decides; `take_left()` and `take_right()` move the next item.
template <class FromLeft, class TakeLeft, class TakeRight>
void merge_without_replacement(double n_left, double n_right, double count, FromLeft&& from_left,
                               TakeLeft&& take_left, TakeRight&& take_right) {
  const double size = std::min(count, n_left + n_right);
  for (double taken = 0; taken < size; ++taken) {
    if (from_left(n_left / (n_left + n_right))) {
      take_left();
      --n_left;
    } else {
      take_right();
      --n_right;
    }
  }
}

/// K states drawn at random: Algorithm 2 of Nishimura & Dunson (2020). Equal weights: without
/// replacement; when fewer than K states are acceptable, floor(K/|A|) copies of each and the
/// remainder without replacement. Unequal weights: K independent draws by weight.
template <SharedStates States, class Random = Stream>
class KeepSimple {
 public:
  using Handle = typename States::Handle;
  KeepSimple(States& states, std::size_t count, bool equal_weights)
      : kept_(states),
        count_(count),
        equal_weights_(equal_weights),
        stream_(Address{}, Purpose::recycling) {}

  void begin(const Random& stream) {
    kept_.clear();
    slots_.clear();
    stream_ = stream;
  }
  void start(Handle state, double weight) {
    fill(kept_.tree(), state, weight);
    tree_weight_ = weight;
  }
  void begin_half(Direction, std::uint64_t) {
    kept_.begin_half();
    subtrees_.clear();
  }
  void leaf(Handle state, double weight) {
    subtrees_.push_back({kept_.half().size(), weight});
    fill(kept_.half(), state, weight);
  }
  void join() {
    const Subtree right = subtrees_.back();
    subtrees_.pop_back();
    Subtree& left = subtrees_.back();
    merge(kept_.half(), left.begin, right.begin, left.weight, right.weight);
    left.weight += right.weight;
  }
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double factor) {
    for (Subtree& subtree : subtrees_) subtree.weight *= factor;
  }
  void commit(Direction, double tree_factor, double half_factor) {
    tree_weight_ *= tree_factor;
    const double half_weight = subtrees_.back().weight * half_factor;
    auto& tree = kept_.tree();
    const std::size_t middle = tree.size();
    kept_.commit(Direction::forward, 1, 1);  // a random sample has no order to preserve
    merge(tree, 0, middle, tree_weight_, half_weight);
    tree_weight_ += half_weight;
  }
  void drop_half() { kept_.drop_half(); }

  /// Exactly K slots of weight 1/K.
  const std::vector<Entry<Handle>>& finish() {
    const auto& entries = kept_.tree();
    const double weight = 1.0 / static_cast<double>(count_);
    const bool merge = count_ > most_copies && count_ > entries.size();
    for (std::size_t k = 0; k < (merge ? entries.size() : count_); ++k) {
      slots_.push_back({entries[k % entries.size()].state, weight});
    }
    for (std::size_t k = slots_.size(); k < count_; ++k)
      slots_[k % entries.size()].weight += weight;
    return slots_;
  }
  void clear() { kept_.clear(); }

 private:
  using Entries = std::vector<Entry<Handle>>;
  struct Subtree {
    std::size_t begin;  ///< of its sample within the half
    double weight;
  };

  void fill(Entries& entries, Handle state, double weight) {
    const std::size_t copies = equal_weights_ ? 1 : count_;
    for (std::size_t k = 0; k < copies; ++k) kept_.append(entries, state, weight);
  }

  /// Merges the samples [first, middle) and [middle, end) into one at [first, ...).
  void merge(Entries& entries, std::size_t first, std::size_t middle, double w_left,
             double w_right) {
    scratch_.clear();
    std::size_t left = first;
    std::size_t right = middle;
    const auto drop = [&](std::size_t i) { kept_.states().release(entries[i].state); };
    const auto from_left = [&](double probability) { return stream_.chance(probability); };
    if (equal_weights_) {
      merge_without_replacement(
          w_left, w_right, static_cast<double>(count_), from_left,
          [&] { scratch_.push_back(entries[left++]); },
          [&] { scratch_.push_back(entries[right++]); });
      for (; left < middle; ++left) drop(left);
      for (; right < entries.size(); ++right) drop(right);
    } else {
      const double total = w_left + w_right;
      if (left == middle || right == entries.size()) return;  // one side weighs nothing
      for (std::size_t k = 0; k < count_; ++k) {
        const bool take_left = from_left(w_left / total);
        scratch_.push_back(entries[take_left ? left + k : right + k]);
        drop(take_left ? right + k : left + k);
      }
    }
    entries.resize(first);
    entries.insert(entries.end(), scratch_.begin(), scratch_.end());
  }

  Kept<States> kept_;
  std::size_t count_;
  bool equal_weights_;
  Random stream_;
  double tree_weight_ = 0;
  std::vector<Subtree> subtrees_;
  Entries scratch_;
  Entries slots_;
};

}  // namespace rehmc
