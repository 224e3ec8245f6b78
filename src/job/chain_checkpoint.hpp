// The checkpoint of one chain of a job: the chain itself, and the valid length of its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/output/chain_facts.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/running_record.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/output/states_file.hpp"

namespace rehmc {

struct ChainCheckpoint {
  std::string origin{};  ///< the manifest and the chain that it belongs to; see origin_of()
  StatesMark states{};
  FileSeal draws_seal{};  ///< of the Stan CSV file, without its ending
  FileSeal recycled_seal{};
  std::string metric_hash{};                 ///< of the metric file; empty before sampling begins
  std::string chain{};                       ///< the stored Chain, which begins with its facts
  std::shared_ptr<RunningRecord> running{};  ///< if draws are not stored and sampling has begun

  /// What is known about the chain without its model.
  ChainFacts facts() const;
  /// Draws of sampling, stored or not.
  std::uint64_t draws() const { return running ? running->counts().draws : states.draws; }

  /// Writes and reads the checkpoint; the running record, which may be large, is not copied.
  template <class Archive>
  void archive(Archive& archive) {
    archive(origin, states, draws_seal, recycled_seal, metric_hash, chain);
    bool runs = running != nullptr;
    archive(runs);
    if (!runs) return;
    if (!running) running = std::make_shared<RunningRecord>();
    archive(*running);
  }
};

/// Identifies a chain of a run: the essence of its manifest, and the number of the chain.
std::string origin_of(const std::string& essence, std::size_t chain);

/// The error about a checkpoint whose checksum fits, but whose content cannot be read: another
/// build of rehmc, with another layout, wrote it.
DataError other_layout(const RunFolder& folder, std::size_t chain, const Error& cause);

/// Reads a part of a checkpoint whose checksum fits; what DataError says is about its layout.
template <class Read>
auto of_this_layout(const RunFolder& folder, std::size_t chain, Read&& read) {
  try {
    return read();
  } catch (const DataError& error) {
    throw other_layout(folder, chain, error);
  }
}

/// The checkpoint in these bytes. DataError if they end too early, or if it belongs to another
/// chain, another run or other settings.
ChainCheckpoint parse_checkpoint(const std::string& bytes, const RunFolder& folder,
                                 const std::string& essence, std::size_t chain);
/// The last valid checkpoint of every chain. DataError if one is lost or damaged.
std::vector<ChainCheckpoint> stored_checkpoints(const RunFolder& folder, const Manifest& manifest);
void store_checkpoint(const std::filesystem::path& path, const ChainCheckpoint& checkpoint);

/// Compares one of the chain's CSV files with its checksums, and throws as read_sealed() does, with
/// what can still be used.
void require_sealed(const RunFolder& folder, std::size_t chain, const std::filesystem::path& path,
                    const FileSeal& seal);

/// Everything that a checkpoint and the states file hold of one chain. If the states file is lost
/// or damaged, the error says what can still be read.
ChainResult load_chain(const RunFolder& folder, std::size_t chain, const Manifest& manifest,
                       const std::vector<std::size_t>& columns, const ChainCheckpoint& checkpoint);

}  // namespace rehmc
