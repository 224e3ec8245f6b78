// Samples many chains in parallel and keeps everything in memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "rehmc/model/log_density.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/run/progress.hpp"
#include "rehmc/run/sample_settings.hpp"

namespace rehmc {

/// How to watch and stop a run that keeps its output in memory.
struct SampleControl {
  /// The run stops soon after this is no longer 0. A signal handler or another thread may set it.
  const std::atomic<int>* interrupts = nullptr;
  /// Updated while chains run; create it with the number of chains.
  Progress* progress = nullptr;
  ThreadHooks hooks{};
  /// Keep the state of every chain in the result, so that extend() can continue it.
  bool keep_chains = false;
};

/// Runs all chains. The draws depend on the seed and the settings, never on the number of threads
/// or the size of batches; on the engine only by rounding, if the model has a batched call. Throws
/// what the first failing chain threw.
///
/// A run that is stopped, also by an Abort after an interrupt, returns what it has, with
/// SampleResult::stopped set. No draw is discarded, so chains may differ in length, and those that
/// have not started are empty; cut_to_shortest() makes them equal. The draws are the first ones of
/// the same run without the stop.
SampleResult sample(const Density& density, const SampleSettings& settings,
                    const SampleControl& control = {});

/// Continues a run with the same settings, but for the number of threads and a larger number of
/// draws, from the states that it kept. The result is that of a single run of this length, bit for
/// bit. Groups of chains of which some were still in warmup begin again. DataError if the result
/// has no states of chains.
void extend(SampleResult& result, const Density& density, const SampleSettings& settings,
            const SampleControl& control = {});

/// A seed from the system, short enough to type again.
std::uint64_t fresh_seed();

}  // namespace rehmc
