// Draws the next state of the chain while a tree grows.
#pragma once

#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/pool.hpp"

namespace rehmc {

/// The selection of trajectory/tree.hpp: one of two states is drawn, the other is released.
class DrawnSelection {
 public:
  using Selected = StatePool::Handle;

  DrawnSelection(StatePool& states, const Address& address)
      : states_(states), stream_(address, Purpose::selection) {}

  Selected leaf(Selected state) {
    states_.retain(state);
    return state;
  }
  // No branch: which of two equally good states is selected cannot be predicted.
  void choose(Selected& selected, Selected& candidate, double probability) {
    const bool take = stream_.uniform() < probability;
    const Selected loser = take ? selected : candidate;
    selected = take ? candidate : selected;
    states_.release(loser);
  }
  void release(Selected& selected) { states_.release(selected); }

 private:
  StatePool& states_;
  Stream stream_;
};

}  // namespace rehmc
