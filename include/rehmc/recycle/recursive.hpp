// The recursive recycler of the paper's appendix C, mended, for comparison with `spread`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/recycle/kept.hpp"
#include "rehmc/recycle/recyclers.hpp"

namespace rehmc {

/// K states by Algorithm 6 of Nishimura & Dunson (2020): the K slots of a set of states A are dealt
/// out to its two halves A' and A'', and so on down to single states. The number for A' is the
/// integer below or above w, at random such that its expectation is w. As printed, w = K / |A'|;
/// that is a mistake, and the prose above it has what is right: w = K |A'| / |A|. Here it is K
/// times the share of A' in the weight of A, which for equal weights is the same; so the expected
/// number of slots of a state is K times its weight, for any weights. Halves are those of the range
/// of places, which on a tree of 2^d states are its subtrees. A set that weighs nothing gets no
/// slot. It holds all states until the trajectory ends, which `spread` does not.
template <SharedStates States, class Random = Stream>
class KeepRecursive {
 public:
  using Handle = typename States::Handle;
  KeepRecursive(States& states, std::size_t count)
      : states_(&states), count_(count), stream_(Address{}, Purpose::recycling) {}
  KeepRecursive(const KeepRecursive&) = delete;
  KeepRecursive& operator=(const KeepRecursive&) = delete;

  void begin(const Random& stream) {
    clear();
    stream_ = stream;
  }
  void start(Handle state, double weight) { append(state, weight, 0); }
  void begin_half(Direction direction, std::uint64_t) {
    direction_ = direction;
    front_ = direction == Direction::forward ? highest_ : lowest_;
    half_begin_ = visits_.size();
  }
  void leaf(Handle state, double weight) {
    front_ += static_cast<int>(direction_);
    append(state, weight, front_);
  }
  void join() {}
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double factor) { rescale(half_begin_, visits_.size(), factor); }
  void commit(Direction direction, double tree_factor, double half_factor) {
    if (tree_factor != 1) rescale(0, half_begin_, tree_factor);
    if (half_factor != 1) rescale(half_begin_, visits_.size(), half_factor);
    (direction == Direction::forward ? highest_ : lowest_) = front_;
  }
  void drop_half() { release_from(half_begin_); }

  /// Exactly K slots of weight 1/K, in random order, because low ones come from the beginning of
  /// the path; or, with many more slots than states, the states with the weights of their slots.
  const std::vector<Entry<Handle>>& finish() {
    std::ranges::sort(visits_, {}, &Visit::place);
    cumulative_.assign(1, 0.0);
    for (const Visit& visit : visits_) cumulative_.push_back(cumulative_.back() + visit.weight);
    slots_.clear();
    deal({0, visits_.size(), lowest_, highest_ + 1}, count_);
    if (!merges()) stream_.shuffle(std::span(slots_));
    return slots_;
  }
  void clear() {
    release_from(0);
    lowest_ = highest_ = 0;
  }

 private:
  struct Visit {
    Handle state;
    double weight;
    std::int64_t place;  ///< steps from the start; negative: backward in time
  };
  /// The visits from `begin` to `end`, whose places lie between `low` and `high`; both half open.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::int64_t low;
    std::int64_t high;
  };

  bool merges() const { return count_ > most_copies && count_ > visits_.size(); }
  double weight(std::size_t begin, std::size_t end) const {
    return cumulative_[end] - cumulative_[begin];
  }

  void deal(const Range& range, std::size_t count) {
    if (count == 0) return;
    if (range.end - range.begin == 1) return fill(visits_[range.begin].state, count);
    const std::int64_t middle = range.low + (range.high - range.low) / 2;
    const auto half = std::ranges::lower_bound(
        visits_.begin() + static_cast<std::ptrdiff_t>(range.begin),
        visits_.begin() + static_cast<std::ptrdiff_t>(range.end), middle, {}, &Visit::place);
    const auto split = static_cast<std::size_t>(half - visits_.begin());
    const Range left{range.begin, split, range.low, middle};
    const Range right{split, range.end, middle, range.high};
    if (left.begin == left.end) return deal(right, count);
    if (right.begin == right.end) return deal(left, count);
    const double all = static_cast<double>(count);
    const double share = all * weight(left.begin, left.end) / weight(range.begin, range.end);
    const double least = std::min(std::floor(share), all);
    auto to_left = static_cast<std::size_t>(least);
    if (share > least && to_left < count && stream_.chance(share - least)) ++to_left;
    deal(left, to_left);
    deal(right, count - to_left);
  }

  void fill(Handle state, std::size_t count) {
    const double weight = 1.0 / static_cast<double>(count_);
    if (merges()) {
      slots_.push_back({state, weight * static_cast<double>(count)});
    } else {
      slots_.insert(slots_.end(), count, {state, weight});
    }
  }

  /// A state that cannot be chosen is not held.
  void append(Handle state, double weight, std::int64_t place) {
    if (!(weight > 0)) return;
    states_->retain(state);
    visits_.push_back({state, weight, place});
  }
  void rescale(std::size_t begin, std::size_t end, double factor) {
    for (std::size_t i = begin; i < end; ++i) visits_[i].weight *= factor;
  }
  void release_from(std::size_t begin) {
    for (std::size_t i = begin; i < visits_.size(); ++i) states_->release(visits_[i].state);
    visits_.resize(begin);
  }

  States* states_;
  std::size_t count_;
  Random stream_;
  std::vector<Visit> visits_;  ///< in the order of the walk; the growing half at the end
  std::size_t half_begin_ = 0;
  Direction direction_ = Direction::forward;
  std::int64_t front_ = 0;    ///< place of the last leaf of the growing half
  std::int64_t lowest_ = 0;   ///< of the committed trajectory
  std::int64_t highest_ = 0;  ///< of the committed trajectory
  std::vector<double> cumulative_;
  std::vector<Entry<Handle>> slots_;
};

}  // namespace rehmc
