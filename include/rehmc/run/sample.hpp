// Samples many chains in threads and keeps everything in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "rehmc/adapt/warmup.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/initial_point.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/output/chain_record.hpp"

namespace rehmc {

struct SampleSettings {
  int chains = 4;
  int draws = 1000;
  int threads = 0;                    ///< 0: one per core
  std::optional<std::uint64_t> seed;  ///< none: a fresh one, to be found in the result
  KernelSettings kernel;
  WarmupSettings warmup;
  InitialPointSettings initial;
  /// Starting positions: none for random ones, one for all chains, or one per chain.
  std::vector<std::vector<double>> start;

  static constexpr auto settings() {
    using S = SampleSettings;
    return std::tuple{Setting{"chains", &S::chains, between(1, 1e6), "number of chains"},
                      Setting{"draws", &S::draws, between(1, 1e9), "draws to keep of every chain"},
                      Setting{"threads", &S::threads, between(0, 1e5),
                              "chains that run at the same time; 0 for one per core"}};
  }

  /// Throws ConfigError that names the setting, the value and the remedy.
  void check() const;
};

/// One chain, after sampling.
struct ChainResult {
  ChainRecord record;
  Tuning tuning;
  std::uint64_t gradients_warmup = 0;
  std::uint64_t gradients_sampling = 0;
  std::uint64_t divergences_warmup = 0;
  std::array<std::uint64_t, fault_count> faults{};  ///< of the model, by cause, over the whole run
  std::string first_message{};                      ///< what the model said when it first threw
};

struct SampleResult {
  std::vector<std::string> names;
  std::uint64_t seed = 0;
  KernelSettings kernel;
  std::vector<ChainResult> chains;
};

/// Runs all chains. The draws depend on the seed and the settings, never on the number of threads.
/// Throws what the first failing chain threw.
SampleResult sample(const Density& density, const SampleSettings& settings);

}  // namespace rehmc
