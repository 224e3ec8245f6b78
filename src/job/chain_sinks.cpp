// Opens the sinks that the settings require.
#include "chain_sinks.hpp"

#include <fmt/format.h>

#include "rehmc/core/error.hpp"
#include "still_usable.hpp"

namespace rehmc {

namespace {

StanCsvInfo csv_info(const ChainSinks::Place& place) {
  const Manifest& manifest = place.manifest;
  const SampleSettings& sample = manifest.settings.sample;
  StanCsvInfo info;
  info.model = manifest.model.name;
  info.version = manifest.version;
  info.start_datetime = manifest.created;
  info.chain = static_cast<int>(place.chain) + manifest.settings.first_chain;
  info.chains = sample.chains;
  info.seed = manifest.seed;
  info.draws = 0;  // every sync writes the current number
  info.thin = manifest.settings.thin;
  info.save_warmup = manifest.settings.save_warmup;
  info.kernel = sample.kernel;
  info.warmup = sample.warmup;
  info.dimension = manifest.coordinates.size();
  info.init = sample.start.empty() ? fmt::format("{}", sample.initial.initial_radius) : "given";
  info.output_file = place.folder.draws(place.chain).filename().string();
  return info;
}

/// If the file is damaged, the error says what can still be used.
template <class Open>
void continue_file(const ChainSinks::Place& place, const std::filesystem::path& path,
                   const Open& open) {
  try {
    open();
  } catch (const DataError& error) {
    throw DataError(error.what() + still_usable(place.folder, place.chain, path));
  }
}

}  // namespace

bool recycles(const RunSettings& settings) {
  return settings.sample.kernel.recycling.kind != RecyclingKind::none;
}

bool writes_recycled_csv(const RunSettings& settings) {
  return settings.store_draws && settings.recycled_csv && recycles(settings);
}

ChainSinks::ChainSinks(const Place& place, ChainResult& result, const ChainCheckpoint* stored,
                       bool summed_gradients, std::mutex& mutex)
    : metric_(place.folder.metric(place.chain), stored == nullptr ? "" : stored->metric_hash) {
  const RunSettings& settings = place.manifest.settings;
  if (settings.store_draws) {
    // As in the states file: a run that was resumed has the gradients of the file alone.
    record_.emplace(result, static_cast<std::size_t>(settings.sample.draws),
                    settings.sample.sharpen ? KeptGradients::yes : KeptGradients::no, &mutex);
    open_files(place, stored);
  } else {
    running_.emplace(result, recycles(settings), summed_gradients,
                     stored == nullptr ? nullptr : stored->running);
  }
  all_.push_back(&metric_);
  const auto list = [&](auto& sink) {
    if (sink) all_.push_back(&*sink);
  };
  list(running_);
  list(record_);
  list(draws_);
  list(states_);
  list(recycled_);
}

void ChainSinks::open_files(const Place& place, const ChainCheckpoint* stored) {
  const RunSettings& settings = place.manifest.settings;
  const auto names = names_of(recorded_quantities(place.manifest.quantities, place.columns));
  const auto gradients =
      settings.sample.sharpen && settings.store_gradients ? KeptGradients::yes : KeptGradients::no;
  const int chain = static_cast<int>(place.chain) + 1;
  const auto thin = static_cast<std::uint64_t>(settings.thin);
  const auto draws = place.folder.draws(place.chain);
  const auto states = place.folder.states(place.chain);
  const auto recycled = place.folder.recycled(place.chain);
  if (stored == nullptr) {
    draws_.emplace(draws, csv_info(place), names);
    states_.emplace(states, gradients);
    if (writes_recycled_csv(settings)) recycled_.emplace(recycled, names, chain, thin);
    return;
  }
  states_.emplace(states, gradients, stored->states);
  continue_file(place, draws, [&] {
    draws_.emplace(draws, csv_info(place), names, stored->draws_seal, stored->states.draws);
  });
  if (!writes_recycled_csv(settings)) return;
  continue_file(place, recycled,
                [&] { recycled_.emplace(recycled, stored->recycled_seal, chain, thin); });
}

std::size_t ChainSinks::waiting() const {
  std::size_t bytes = 0;
  for (const Sink* sink : all_) bytes += sink->waiting();
  return bytes;
}

void ChainSinks::sync() {
  for (Sink* sink : all_) sink->sync();
}

void ChainSinks::finish(const ChainFacts& facts) {
  for (Sink* sink : all_) sink->finish(facts);
}

void ChainSinks::mark(ChainCheckpoint& checkpoint) const {
  checkpoint.metric_hash = metric_.hash();
  if (running_) checkpoint.running = running_->record();
  if (draws_) checkpoint.draws_seal = draws_->seal();
  if (states_) checkpoint.states = states_->mark();
  if (recycled_) checkpoint.recycled_seal = recycled_->seal();
}

}  // namespace rehmc
