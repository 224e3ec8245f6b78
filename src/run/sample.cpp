// Each chain runs by itself from its own address, so that the engine changes nothing but the time.
#include "rehmc/run/sample.hpp"

#include <fmt/format.h>

#include <atomic>
#include <random>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/run/chain.hpp"

namespace rehmc {

namespace {

std::uint64_t fresh_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

ChainResult run_chain(const Density& density, const SampleSettings& settings,
                      const Address& address) {
  Chain chain(density, settings, address);
  while (!chain.warm()) chain.step();
  chain.begin_sampling();
  QuantityReader reader(density, {}, generated_of_kept(settings));
  reader.set_centre(chain.centre());
  ChainRecord record(reader, static_cast<std::size_t>(settings.draws),
                     settings.sharpen ? KeptGradients::yes : KeptGradients::no);
  QuantityFailures failures;
  for (int i = 0; i < settings.draws; ++i) {
    const Transition& transition = chain.step();
    const ReadDraw& draw = reader.read(transition, chain.address());
    failures += draw.failures;
    record.add(draw, reader);
  }
  ChainResult result = chain_result(chain, std::move(record));
  result.quantity_failures = failures;
  return result;
}

}  // namespace

ChainResult chain_result(const Chain& chain, ChainRecord record) {
  ChainResult result{.record = std::move(record), .tuning = chain.tuning()};
  const std::uint64_t gradients = chain.guard().evaluations();
  result.gradients_warmup = chain.warming_up() ? gradients : chain.gradients_warmup();
  result.gradients_sampling = gradients - result.gradients_warmup;
  result.divergences_warmup = chain.divergences_warmup();
  result.spot_check = chain.spot_check();
  for (std::size_t f = 0; f < fault_count; ++f) {
    result.faults[f] = chain.guard().faults(static_cast<Fault>(f));
  }
  result.first_message = chain.guard().first_message();
  return result;
}

void SampleSettings::check() const {
  check_settings(*this);
  check_settings(initial);
  kernel.check();
  warmup.check();
  if (recycle_generated && kernel.recycling.kind == RecyclingKind::none) {
    throw ConfigError(
        "recycle-generated: no states are kept with the recycling none; leave out one of both");
  }
  if (start.size() > 1 && start.size() != static_cast<std::size_t>(chains)) {
    throw ConfigError(
        fmt::format("start: {} positions for {} chains; give none, one, or one per chain",
                    start.size(), chains));
  }
}

SampleResult sample(const Density& density, const SampleSettings& settings) {
  settings.check();
  SampleResult result;
  result.quantities = density.quantities();
  result.names = names_of(result.quantities);
  result.coordinates = density.names();
  result.kernel = settings.kernel;
  result.recycle_generated = settings.recycle_generated;
  result.seed = settings.seed ? *settings.seed : fresh_seed();

  std::vector<std::optional<ChainResult>> finished(static_cast<std::size_t>(settings.chains));
  std::atomic<bool> failed = false;
  Engine engine(density, settings.engine_settings());
  engine.run(failed, [&](std::size_t chain) {
    finished[chain] = run_chain(engine.density(chain), settings,
                                {result.seed, static_cast<std::uint32_t>(chain), 0});
  });
  for (auto& chain : finished) result.chains.push_back(std::move(*chain));
  return result;
}

}  // namespace rehmc
