// Reads and writes the checkpoint of a chain.
#include "chain_checkpoint.hpp"

#include <fmt/format.h>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "still_usable.hpp"

namespace rehmc {

ChainFacts ChainCheckpoint::facts() const { return ArchiveReader(chain).get<ChainFacts>(); }

std::string origin_of(const std::string& essence, std::size_t chain) {
  return fmt::format("{} chain {}", essence, chain + 1);
}

DataError other_layout(const RunFolder& folder, std::size_t chain, const Error& cause) {
  const std::filesystem::path path = folder.checkpoint(chain);
  return DataError(fmt::format(
      "{}: is whole, but this build of rehmc cannot read it ({}): another build wrote it{}",
      path.string(), cause.what(), still_usable(folder, chain, path)));
}

ChainCheckpoint parse_checkpoint(const std::string& bytes, const RunFolder& folder,
                                 const std::string& essence, std::size_t chain) {
  ChainCheckpoint checkpoint = of_this_layout(folder, chain, [&] {
    auto read = ArchiveReader(bytes).get<ChainCheckpoint>();
    if (read.origin == origin_of(essence, chain)) read.facts();
    return read;
  });
  if (checkpoint.origin != origin_of(essence, chain)) {
    throw DataError(fmt::format(
        "{}: belongs to another chain or another run, or {} was changed after rehmc wrote it: they "
        "do not agree on model, seed, version or settings{}",
        folder.checkpoint(chain).string(), folder.manifest().string(),
        still_usable(folder, chain, folder.checkpoint(chain))));
  }
  return checkpoint;
}

std::vector<ChainCheckpoint> stored_checkpoints(const RunFolder& folder, const Manifest& manifest) {
  std::vector<ChainCheckpoint> checkpoints;
  const std::string run = essence(manifest);
  const auto chains = static_cast<std::size_t>(manifest.settings.sample.chains);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    const StoredCheckpoint stored = read_checkpoint(folder.checkpoint(chain));
    if (!stored.found) {
      throw DataError(fmt::format(
          "{}; the run stopped too early, or its files were lost. Continue with: rehmc resume {}",
          stored.problems.front(), shell_word(folder.path().string())));
    }
    checkpoints.push_back(parse_checkpoint(stored.content, folder, run, chain));
  }
  return checkpoints;
}

void store_checkpoint(const std::filesystem::path& path, const ChainCheckpoint& checkpoint) {
  ArchiveWriter writer;
  constexpr std::size_t small_things = 4096;
  writer.reserve(checkpoint.chain.size() + checkpoint.states.centre.size() * sizeof(double) +
                 (checkpoint.running ? checkpoint.running->summary().bytes() : 0) + small_things);
  writer(checkpoint);
  write_checkpoint(path, writer.bytes());
}

void require_sealed(const RunFolder& folder, std::size_t chain, const std::filesystem::path& path,
                    const FileSeal& seal) {
  try {
    read_sealed(path, seal, [](std::string_view) {});
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + still_usable(folder, chain, path));
  }
}

ChainResult load_chain(const RunFolder& folder, std::size_t chain, const Manifest& manifest,
                       const std::vector<std::size_t>& columns, const ChainCheckpoint& checkpoint) {
  ChainResult result;
  result.facts() = checkpoint.facts();
  result.running = checkpoint.running;
  if (result.tuning.metric->dimension() != manifest.coordinates.size()) {
    throw DataError(fmt::format("{}: its metric is of another dimension than {}",
                                folder.checkpoint(chain).string(), folder.manifest().string()));
  }
  const bool must_run = result.sampling && !manifest.settings.store_draws;
  if (must_run != (result.running != nullptr) ||
      (must_run && result.running->summary().dimension() != columns.size())) {
    throw DataError(fmt::format("{}: its running summaries do not fit the settings in {}",
                                folder.checkpoint(chain).string(), folder.manifest().string()));
  }
  for (ChainRecord* record : {&result.record, &result.warmup}) {
    record->columns = columns;
    record->coordinates = manifest.coordinates.size();
    record->gradients = KeptGradients::yes;  // until a draw has none
    record->centre = checkpoint.states.centre;
    record->centre.resize(columns.size());  // not known before sampling begins
  }
  try {
    read_states(folder.states(chain), checkpoint.states, result);
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + still_usable(folder, chain, folder.states(chain)));
  }
  return result;
}

}  // namespace rehmc
