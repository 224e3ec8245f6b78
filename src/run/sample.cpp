// Each chain has its own random streams, so that the engine affects only the running time.
#include "rehmc/run/sample.hpp"

#include <fmt/format.h>

#include <memory>
#include <random>

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
        engine_(density, settings.engine_settings()),
        chains_(result.chains.size()) {}

  void run() {
    const auto chain = [this](std::size_t c) {
      return chains_[c] ? &chains_[c]->loop.chain() : nullptr;
    };
    for (const ChainRange& range : ranges_at_once(settings_, engine_.chains_at_once())) {
      do {
        engine_.run(failed_, range, [this](std::size_t c) { advance(c); });
      } while (!stop_.raised() && pool_groups(range, chain));
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
    const Address address{result_.seed, static_cast<std::uint32_t>(c), 0};
    return std::make_unique<Running>(
        result_.chains[c], draws_, settings_.sharpen ? KeptGradients::yes : KeptGradients::no,
        std::make_unique<Chain>(density, settings_, address),
        QuantityReader(density, {}, generated_of_kept(settings_), KeptQuantities::later),
        ChainLoop::Options{
            .chains_per_thread = engine_.chains_per_thread(),
            .progress = control_.progress ? &control_.progress->chains[c] : nullptr});
  }

  /// Until the chain has all its draws, or must wait for its group.
  void advance(std::size_t c) {
    if (stop_.raised()) return;
    if (!chains_[c]) chains_[c] = begin(c);
    ChainLoop& loop = chains_[c]->loop;
    loop.advance(draws_, stop_);
    result_.chains[c].facts() = loop.chain().facts();
    if (!loop.chain().waiting() || stop_.raised()) chains_[c].reset();
  }

  const SampleSettings& settings_;
  const SampleControl& control_;
  SampleResult& result_;
  Engine engine_;
  std::vector<std::unique_ptr<Running>> chains_;
  std::uint64_t draws_ = static_cast<std::uint64_t>(settings_.draws);
  std::atomic<bool> failed_ = false;
  Stop stop_{control_.interrupts, &failed_};
};

}  // namespace

std::uint64_t fresh_seed() {
  std::random_device device;
  return device();
}

SampleResult sample(const Density& density, const SampleSettings& settings,
                    const SampleControl& control) {
  settings.check();
  if (control.progress != nullptr) check_progress(*control.progress, settings);
  SampleResult result;
  result.quantities = density.quantities();
  result.names = names_of(result.quantities);
  result.coordinates = density.names();
  result.kernel = settings.kernel;
  result.recycle_generated = settings.recycle_generated;
  result.seed = settings.seed ? *settings.seed : fresh_seed();
  result.chains.resize(static_cast<std::size_t>(settings.chains));

  const auto draws = static_cast<std::uint64_t>(settings.draws);
  RunningChains(density, settings, control, result).run();
  read_kept(density, columns_of_states(result), result);
  for (const ChainResult& chain : result.chains) {
    result.stopped = result.stopped || chain.record.size() < draws;
  }
  return result;
}

}  // namespace rehmc
