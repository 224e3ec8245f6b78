// Each chain has its own random streams, so that the engine affects only the running time.
#include "rehmc/run/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "rehmc/core/abort.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/output/memory_sinks.hpp"
#include "rehmc/run/chain_loop.hpp"
#include "rehmc/run/groups.hpp"

namespace rehmc {

namespace {

void check_progress(const Progress& progress, const SampleSettings& settings) {
  if (progress.chains.size() == static_cast<std::size_t>(settings.chains)) return;
  throw ConfigError(fmt::format(
      "progress: created for {} chains, but there are {}; create it for the same number",
      progress.chains.size(), settings.chains));
}

/// The chains of a run, in memory only while they run.
class RunningChains {
 public:
  RunningChains(const Density& density, const SampleSettings& settings,
                const SampleControl& control, SampleResult& result)
      : settings_(settings),
        control_(control),
        result_(result),
        engine_(density, settings.engine_settings(), control.hooks),
        chains_(result.chains.size()) {}

  void run() {
    const auto chain = [this](std::size_t c) {
      return chains_[c] ? &chains_[c]->loop.chain() : nullptr;
    };
    for (const ChainRange& range : ranges_at_once(settings_, engine_.chains_at_once())) {
      do {
        engine_.run(failed_, range, [this](std::size_t c) { advance(c); });
      } while (!stop_.raised() && pool_groups(range, chain));
      for (std::size_t c = range.first; c < range.end; ++c) end(c);
    }
  }

 private:
  struct Running {
    Running(ChainResult& result, std::uint64_t draws, KeptGradients gradients,
            std::unique_ptr<Chain> chain, QuantityReader reader, const ChainLoop::Options& options)
        : record(result, draws, gradients),
          loop(std::move(chain), std::move(reader), {&record}, options) {}
    RecordSink record;
    ChainLoop loop;
  };

  std::unique_ptr<Running> begin(std::size_t c) {
    const Density& density = engine_.density(c);
    return std::make_unique<Running>(
        result_.chains[c], draws_, settings_.sharpen ? KeptGradients::yes : KeptGradients::no,
        make_chain(density, c),
        QuantityReader(density, {}, generated_of_kept(settings_), KeptQuantities::later),
        ChainLoop::Options{
            .chains_per_thread = engine_.chains_per_thread(),
            .progress = control_.progress ? &control_.progress->chains[c] : nullptr});
  }

  std::unique_ptr<Chain> make_chain(const Density& density, std::size_t c) {
    const Address address{result_.seed, static_cast<std::uint32_t>(c), 0};
    if (result_.stored_chains.empty() || result_.stored_chains[c].empty()) {
      return std::make_unique<Chain>(density, settings_, address);
    }
    ArchiveReader stored(result_.stored_chains[c]);
    return std::make_unique<Chain>(density, settings_, address, stored);
  }

  /// The chain runs no longer: its state is kept, if wanted, and its memory is free again.
  void end(std::size_t c) {
    if (chains_[c] && control_.keep_chains) {
      ArchiveWriter archive;
      archive(chains_[c]->loop.chain());
      result_.stored_chains[c] = std::move(archive).take();
    }
    chains_[c].reset();
  }

  /// Until the chain has all its draws, or must wait for its group.
  void advance(std::size_t c) {
    if (stop_.raised()) return;
    try {
      if (!chains_[c]) chains_[c] = begin(c);
      chains_[c]->loop.advance(draws_, stop_);
    } catch (const Abort&) {
      // A model that was slow to return may be made to give up; the draws so far are good.
      if (!interrupted()) throw;
      if (chains_[c]) result_.chains[c].facts() = chains_[c]->loop.chain().facts();
      chains_[c].reset();
      return;
    }
    const ChainLoop& loop = chains_[c]->loop;
    result_.chains[c].facts() = loop.chain().facts();
    if (!loop.chain().waiting() || stop_.raised()) end(c);
  }

  bool interrupted() const { return control_.interrupts != nullptr && *control_.interrupts != 0; }

  const SampleSettings& settings_;
  const SampleControl& control_;
  SampleResult& result_;
  Engine engine_;
  std::vector<std::unique_ptr<Running>> chains_;
  std::uint64_t draws_ = static_cast<std::uint64_t>(settings_.draws);
  std::atomic<bool> failed_ = false;
  Stop stop_{control_.interrupts, &failed_};
};

/// Samples what is missing.
void run_chains(SampleResult& result, const Density& density, const SampleSettings& settings,
                const SampleControl& control) {
  RunningChains(density, settings, control, result).run();
  read_kept(density, columns_of_states(result), result);
  const auto draws = static_cast<std::uint64_t>(settings.draws);
  result.stopped = std::ranges::any_of(
      result.chains, [&](const ChainResult& chain) { return chain.record.size() < draws; });
}

void check(const SampleSettings& settings, const SampleControl& control) {
  settings.check();
  if (control.progress != nullptr) check_progress(*control.progress, settings);
}

bool is_sampling(const std::string& stored) {
  if (stored.empty()) return false;
  ArchiveReader reader(stored);
  return reader.get<ChainFacts>().sampling;
}

/// Chains of a group learn from each other up to the end of warmup: they begin again together.
void restart_warming_groups(SampleResult& result, const SampleSettings& settings) {
  if (settings.warmup.schedule != WarmupSchedule::pooled) return;
  const std::span<std::string> stored(result.stored_chains);
  for (const ChainRange& group : groups_of({0, result.chains.size()})) {
    const auto of_group = stored.subspan(group.first, group.end - group.first);
    if (std::ranges::all_of(of_group, is_sampling)) continue;
    for (std::size_t c = group.first; c < group.end; ++c) {
      result.chains[c] = ChainResult{};
      stored[c].clear();
    }
  }
}

}  // namespace

std::uint64_t fresh_seed() {
  std::random_device device;
  return device();
}

SampleResult sample(const Density& density, const SampleSettings& settings,
                    const SampleControl& control) {
  check(settings, control);
  SampleResult result;
  result.quantities = density.quantities();
  result.names = names_of(result.quantities);
  result.coordinates = density.names();
  result.kernel = settings.kernel;
  result.recycle_generated = settings.recycle_generated;
  result.seed = settings.seed ? *settings.seed : fresh_seed();
  result.chains.resize(static_cast<std::size_t>(settings.chains));
  if (control.keep_chains) result.stored_chains.resize(result.chains.size());
  run_chains(result, density, settings, control);
  return result;
}

void extend(SampleResult& result, const Density& density, const SampleSettings& settings,
            const SampleControl& control) {
  check(settings, control);
  if (result.stored_chains.size() != result.chains.size() ||
      result.chains.size() != static_cast<std::size_t>(settings.chains)) {
    throw DataError(
        "this result cannot be extended: it does not hold the states of these chains; sample with "
        "keep_chains");
  }
  if (result.coordinates != density.names() || result.names != names_of(density.quantities())) {
    throw DataError(
        "this result cannot be extended with this model: its coordinates or its quantities are not "
        "those of the model that was sampled");
  }
  restart_warming_groups(result, settings);
  run_chains(result, density, settings, control);
}

}  // namespace rehmc
