// Each chain has its own random streams, so that the engine affects only the running time.
#include "rehmc/run/sample.hpp"

#include <fmt/format.h>

#include <memory>
#include <random>

#include "rehmc/core/error.hpp"
#include "rehmc/output/memory_sinks.hpp"
#include "rehmc/run/chain_loop.hpp"

namespace rehmc {

namespace {

void check_progress(const Progress& progress, const SampleSettings& settings) {
  if (progress.chains.size() == static_cast<std::size_t>(settings.chains)) return;
  throw ConfigError(fmt::format(
      "progress: created for {} chains, but there are {}; create it for the same number",
      progress.chains.size(), settings.chains));
}

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
  std::atomic<bool> failed = false;
  const Stop stop{control.interrupts, &failed};
  Engine engine(density, settings.engine_settings());
  engine.run(failed, [&](std::size_t c) {
    if (stop.raised()) return;
    const Address address{result.seed, static_cast<std::uint32_t>(c), 0};
    RecordSink record(result.chains[c], draws,
                      settings.sharpen ? KeptGradients::yes : KeptGradients::no);
    ChainLoop loop(std::make_unique<Chain>(engine.density(c), settings, address),
                   QuantityReader(engine.density(c), {}, generated_of_kept(settings)), {&record},
                   {.chains_per_thread = engine.chains_per_thread(),
                    .progress = control.progress ? &control.progress->chains[c] : nullptr});
    loop.advance(draws, stop);
    result.chains[c].facts() = loop.chain().facts();
  });
  for (const ChainResult& chain : result.chains) {
    result.stopped = result.stopped || chain.record.size() < draws;
  }
  return result;
}

}  // namespace rehmc
