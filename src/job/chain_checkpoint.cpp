// Reads and writes the checkpoint of a chain.
#include "chain_checkpoint.hpp"

#include "rehmc/core/archive.hpp"
#include "rehmc/output/checkpoint.hpp"

namespace rehmc {

ChainFacts ChainCheckpoint::facts() const { return ArchiveReader(chain).get<ChainFacts>(); }

ChainCheckpoint parse_checkpoint(const std::string& bytes) {
  return ArchiveReader(bytes).get<ChainCheckpoint>();
}

void store_checkpoint(const std::filesystem::path& path, const ChainCheckpoint& checkpoint) {
  ArchiveWriter writer;
  constexpr std::size_t small_things = 4096;
  writer.reserve(checkpoint.chain.size() + checkpoint.states.centre.size() * sizeof(double) +
                 (checkpoint.running ? checkpoint.running->summary().bytes() : 0) + small_things);
  writer(checkpoint);
  write_checkpoint(path, writer.bytes());
}

ChainResult load_chain(const RunFolder& folder, std::size_t chain, const Manifest& manifest,
                       const std::vector<std::size_t>& columns, const ChainCheckpoint& checkpoint) {
  ChainResult result;
  result.facts() = checkpoint.facts();
  result.running = checkpoint.running;
  for (ChainRecord* record : {&result.record, &result.warmup}) {
    record->columns = columns;
    record->coordinates = manifest.coordinates.size();
    record->gradients = KeptGradients::yes;  // until a draw has none
    record->centre = checkpoint.states.centre;
    record->centre.resize(columns.size());  // not known before sampling begins
  }
  read_states(folder.states(chain), checkpoint.states, result);
  return result;
}

}  // namespace rehmc
