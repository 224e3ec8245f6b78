// The progress of the chains: written by the sampling loop, read by the display.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace rehmc {

/// One chain's numbers. Each is atomic, so there are no locks.
struct ChainProgress {
  std::atomic<std::uint64_t> iteration = 0;  ///< done, including warmup
  std::atomic<std::uint64_t> warmup = 0;     ///< iterations of warmup: the most, then those done
  std::atomic<std::uint64_t> gradients = 0;
  std::atomic<std::uint64_t> divergences = 0;  ///< after warmup
  std::atomic<double> step_size = 0;
  std::atomic<int> depth = 0;  ///< of the last draw
  std::atomic<bool> begun = false;
};

struct Progress {
  Progress(std::size_t chain_count, std::uint64_t warmup_iterations, std::uint64_t draw_goal)
      : chains(chain_count), draws(draw_goal) {
    for (ChainProgress& chain : chains) chain.warmup = warmup_iterations;
  }

  std::deque<ChainProgress> chains;  ///< a deque, as atomics cannot move
  std::atomic<std::uint64_t> draws;  ///< the goal of every chain
};

}  // namespace rehmc
