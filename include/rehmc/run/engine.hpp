// Engines: how the chains of a run share the machine. They change the time it takes, not the draws.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

enum class EngineKind {
  threads,  ///< each thread runs one chain after the other
  batch,    ///< each thread runs many chains at once, whose gradients it takes in one call
};

std::string_view describe(EngineKind kind) noexcept;
/// By name: threads, batch. ConfigError lists the names.
EngineKind parse_engine(std::string_view name);

/// Chains first, first + 1, ..., end - 1.
struct ChainRange {
  std::size_t first = 0;
  std::size_t end = 0;
};

struct EngineSettings {
  EngineKind kind = EngineKind::threads;
  std::size_t chains = 1;
  std::size_t threads = 0;  ///< 0: one per core
  std::size_t batch = 32;   ///< most chains at once in a thread, for the batch engine
};

/// Called in every thread that runs chains, before the first of them and after the last: for models
/// that need something of their own in each thread. They must not throw.
struct ThreadHooks {
  std::function<void()> begin{};
  std::function<void()> end{};
};

/// Runs chains in parallel. In a batch, every chain runs on its own fiber, with the usual kernel:
/// when it needs a gradient, it waits until all other chains of its batch need theirs or have
/// ended. No chain waits for another's trajectory.
///
/// A model without a batched call would gain nothing: its chains run in threads.
class Engine {
 public:
  /// ConfigError for no chains, or batches of none.
  Engine(const Density& density, const EngineSettings& settings, ThreadHooks hooks = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The density as this chain must use it, also between runs; valid as long as the engine.
  const Density& density(std::size_t chain);

  /// Calls `work(chain)` for every chain; they begin in order of their numbers. If one throws,
  /// `failed` is set and no other starts; when all have returned, the error of the first failed
  /// chain is thrown.
  void run(std::atomic<bool>& failed, const std::function<void(std::size_t)>& work);
  /// The same for some chains only.
  void run(std::atomic<bool>& failed, const ChainRange& range,
           const std::function<void(std::size_t)>& work);

  std::size_t threads() const { return threads_; }
  /// The number of chains that run at the same time.
  std::size_t chains_at_once() const { return threads_ * fibers_; }
  /// The number of chains that share the time of a thread.
  std::size_t chains_per_thread() const { return fibers_; }

 private:
  class Queue;
  class Relay;
  struct Seat;
  class Batches;

  Density density_;
  ThreadHooks hooks_;
  std::size_t chains_;
  std::size_t threads_;
  std::size_t fibers_ = 1;
  std::unique_ptr<Batches> batches_;  ///< none: chains run in threads
};

}  // namespace rehmc
