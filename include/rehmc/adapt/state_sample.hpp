// States of trajectories with their gradients, as the estimators of a metric see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// What one chain has seen in a part of warmup, in bounded memory.
struct StateSample {
  std::vector<double> positions;  ///< one state after the other
  std::vector<double> gradients;
  std::vector<double> weights;  ///< those of a trajectory sum to 1
  std::uint64_t draws = 0;      ///< trajectories
  std::uint64_t dimension = 0;

  /// Adds at most this many states of a trajectory whose visits were recorded, evenly spaced among
  /// those with a weight.
  void add(const Transition& transition, std::size_t most);

  /// Adds the states of another sample of the same chain.
  void append(const StateSample& other);

  template <class Archive>
  void archive(Archive& archive) {
    archive(positions, gradients, weights, draws, dimension);
  }
};

}  // namespace rehmc
