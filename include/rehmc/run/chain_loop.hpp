// The sampling loop: takes one chain through warmup and sampling, and hands its draws to sinks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rehmc/output/quantity_reader.hpp"
#include "rehmc/output/sink.hpp"
#include "rehmc/run/chain.hpp"
#include "rehmc/run/progress.hpp"

namespace rehmc {

/// Why to stop before all draws are taken.
struct Stop {
  const std::atomic<int>* interrupts;  ///< null: never interrupted
  const std::atomic<bool>* failed;     ///< another chain

  bool raised() const {
    return failed->load(std::memory_order_relaxed) ||
           (interrupts != nullptr && interrupts->load(std::memory_order_relaxed) != 0);
  }
};

class ChainLoop {
 public:
  struct Options {
    bool warmup_draws = false;          ///< sinks get the draws of warmup too
    std::size_t chains_per_thread = 1;  ///< that share its time with this chain
    ChainProgress* progress = nullptr;
  };

  /// A chain, new or restored, and the sinks in the order in which they get each draw. The sinks
  /// must outlive the loop.
  ChainLoop(std::unique_ptr<Chain> chain, QuantityReader reader, std::vector<Sink*> sinks,
            const Options& options);

  /// Samples up to this total number of draws, until `stop`, or until the chain must wait for its
  /// group. Calls `after_draw`, if there is
  /// one, after every iteration.
  void advance(std::uint64_t draws, const Stop& stop, const std::function<void()>& after_draw = {});

  /// Draws of sampling so far.
  std::uint64_t draws() const { return draws_; }
  /// Adds the time since advance() began, or since the last call, to the facts of the chain.
  /// advance() does so itself at its end.
  void count_time();

  const Chain& chain() const { return *chain_; }
  Chain& chain() { return *chain_; }
  const QuantityReader& reader() const { return reader_; }
  const std::vector<Sink*>& sinks() const { return sinks_; }

 private:
  using Clock = std::chrono::steady_clock;

  void begin_sampling();
  void step();
  void show(const Transition& transition);

  std::unique_ptr<Chain> chain_;
  QuantityReader reader_;
  std::vector<Sink*> sinks_;
  Options options_;
  std::uint64_t draws_ = 0;
  Clock::time_point last_tick_ = Clock::now();
};

}  // namespace rehmc
