// The settings of sampling: chains, draws, engine, kernel, warmup and starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "rehmc/adapt/start.hpp"
#include "rehmc/adapt/warmup.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/initial_point.hpp"
#include "rehmc/output/quantity_reader.hpp"
#include "rehmc/run/engine.hpp"

namespace rehmc {

struct SampleSettings {
  int chains = 4;
  int draws = 1000;
  EngineKind engine = EngineKind::threads;
  int threads = 0;                    ///< 0: one per core
  int batch = 32;                     ///< chains of one batch
  bool sharpen = true;                ///< keep the gradients of kept states, for summaries
  bool recycle_generated = false;     ///< kept states have generated quantities too
  std::optional<std::uint64_t> seed;  ///< none: a random one, stored in the result
  KernelSettings kernel;
  WarmupSettings warmup;
  InitialPointSettings initial;
  /// Starting positions: none for random ones, one for all chains, or one per chain.
  std::vector<std::vector<double>> start;
  /// Of HMC: search for the path length after warmup, unless the number of steps is given.
  bool search_path_length = false;
  /// What becomes of random starting positions. None: a climb before a pooled warmup.
  std::optional<StartKind> start_kind;

  static constexpr auto settings() {
    using S = SampleSettings;
    return std::tuple{Setting{"chains", &S::chains, between(1, 1e6), "number of chains"},
                      Setting{"draws", &S::draws, between(1, 1e9), "draws to keep per chain"},
                      Setting{"threads", &S::threads, between(0, 1e5),
                              "threads that run chains; 0 for one per core"},
                      Setting{"batch", &S::batch, between(1, 1e4),
                              "engine batch: chains that each thread runs at once"}};
  }

  EngineSettings engine_settings() const {
    return {engine, static_cast<std::size_t>(chains), static_cast<std::size_t>(threads),
            static_cast<std::size_t>(batch)};
  }

  bool climbs() const {
    const bool pooled = warmup.schedule == WarmupSchedule::pooled && warmup.iterations > 0;
    return start_kind.value_or(pooled ? StartKind::pathfinder : StartKind::random) ==
           StartKind::pathfinder;
  }

  /// Throws ConfigError that names the setting, the value and the remedy.
  void check() const;
};

inline GeneratedOfKept generated_of_kept(const SampleSettings& settings) {
  return settings.recycle_generated ? GeneratedOfKept::yes : GeneratedOfKept::no;
}

}  // namespace rehmc
