// How far the chains are: written by those who sample, read by whoever shows it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

namespace rehmc {

/// One chain's numbers. Each is read by itself, so nobody ever waits.
struct ChainProgress {
  std::atomic<std::uint64_t> iteration = 0;  ///< done, warmup included
  std::atomic<std::uint64_t> gradients = 0;
  std::atomic<std::uint64_t> divergences = 0;  ///< after warmup
  std::atomic<double> step_size = 0;
  std::atomic<int> depth = 0;  ///< of the last draw
  std::atomic<bool> begun = false;
};

struct Progress {
  std::deque<ChainProgress> chains;      ///< a deque, as atomics cannot move
  std::uint64_t warmup = 0;              ///< iterations
  std::atomic<std::uint64_t> draws = 0;  ///< the goal of every chain
};

}  // namespace rehmc
