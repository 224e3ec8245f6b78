// Records every state that one transition visits, with its place along the trajectory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rehmc/recycle/kept.hpp"

namespace rehmc {

/// A visited state; every visit holds one reference to its state.
template <class Handle>
struct Visit {
  Handle state;
  std::int64_t place;  ///< steps from the start; negative: backward in time
  double weight;       ///< 0 if dropped
  bool dropped;        ///< part of a half that was dropped, or where a step diverged
};

/// A keeper of everything, also of what is dropped: for those who show or check a transition.
template <SharedStates States>
class RecordVisits {
 public:
  using Handle = typename States::Handle;

  explicit RecordVisits(States& states) : states_(&states) {}
  RecordVisits(const RecordVisits&) = delete;
  RecordVisits& operator=(const RecordVisits&) = delete;

  void start(Handle state, double weight) { record(state, 0, weight, false); }
  void begin_half(Direction direction, std::uint64_t) {
    direction_ = direction;
    front_ = direction == Direction::forward ? highest_ : lowest_;
    half_begin_ = visits_.size();
  }
  void leaf(Handle state, double weight) { record(state, next_place(), weight, false); }
  void join() {}
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double factor) { rescale(half_begin_, visits_.size(), factor); }
  void commit(Direction direction, double tree_factor, double half_factor) {
    rescale(0, half_begin_, tree_factor);
    rescale(half_begin_, visits_.size(), half_factor);
    (direction == Direction::forward ? highest_ : lowest_) = front_;
  }
  void drop_half() {
    rescale(half_begin_, visits_.size(), 0);
    for (std::size_t i = half_begin_; i < visits_.size(); ++i) visits_[i].dropped = true;
  }
  /// The last step in this direction diverged and led here.
  void diverged(Handle state, Direction direction) {
    std::int64_t end = 0;
    for (const auto& visit : visits_) {
      end =
          direction == Direction::forward ? std::max(end, visit.place) : std::min(end, visit.place);
    }
    record(state, end + static_cast<int>(direction), 0, true);
  }

  /// All visits in the order of their places; their weights sum to 1.
  const std::vector<Visit<Handle>>& finish() {
    std::ranges::sort(visits_, {}, &Visit<Handle>::place);
    double total = 0;
    for (const auto& visit : visits_) total += visit.weight;
    for (auto& visit : visits_) visit.weight /= total;
    return visits_;
  }
  void clear() {
    for (const auto& visit : visits_) states_->release(visit.state);
    visits_.clear();
    lowest_ = highest_ = 0;
  }

 private:
  std::int64_t next_place() { return front_ += static_cast<int>(direction_); }
  void record(Handle state, std::int64_t place, double weight, bool dropped) {
    states_->retain(state);
    visits_.push_back({state, place, weight, dropped});
  }
  void rescale(std::size_t begin, std::size_t end, double factor) {
    for (std::size_t i = begin; i < end; ++i) visits_[i].weight *= factor;
  }

  States* states_;
  std::vector<Visit<Handle>> visits_;
  std::size_t half_begin_ = 0;
  Direction direction_ = Direction::forward;
  std::int64_t front_ = 0;    ///< place of the last leaf of the growing half
  std::int64_t lowest_ = 0;   ///< of the committed trajectory
  std::int64_t highest_ = 0;  ///< of the committed trajectory
};

}  // namespace rehmc
