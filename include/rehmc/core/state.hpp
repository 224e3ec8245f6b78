// A read-only state: position, log density and gradient, computed together.
#pragma once

#include <span>

namespace rehmc {

/// A view of one state; its owner documents how long it is valid.
struct StateView {
  std::span<const double> position;
  std::span<const double> gradient;
  double log_density = 0;
};

/// A state of a trajectory and its weight within that trajectory; the weights of a draw sum to 1.
struct WeightedState {
  StateView state;
  double weight = 0;
};

}  // namespace rehmc
