// The checkpoint of one chain of a job: the chain itself, and the valid length of its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rehmc/job/manifest.hpp"
#include "rehmc/output/chain_facts.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/running_record.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/output/states_file.hpp"

namespace rehmc {

struct ChainCheckpoint {
  StatesMark states{};
  std::uint64_t draws_bytes = 0;  ///< of the Stan CSV file, without its ending
  std::uint64_t recycled_bytes = 0;
  std::string chain{};                       ///< the stored Chain, which begins with its facts
  std::shared_ptr<RunningRecord> running{};  ///< if draws are not stored and sampling has begun

  /// What is known about the chain without its model.
  ChainFacts facts() const;
  /// Draws of sampling, stored or not.
  std::uint64_t draws() const { return running ? running->counts().draws : states.draws; }

  /// Writes and reads the checkpoint; the running record, which may be large, is not copied.
  template <class Archive>
  void archive(Archive& archive) {
    archive(states, draws_bytes, recycled_bytes, chain);
    bool runs = running != nullptr;
    archive(runs);
    if (!runs) return;
    if (!running) running = std::make_shared<RunningRecord>();
    archive(*running);
  }
};

/// The checkpoint in these bytes. DataError if they end too early.
ChainCheckpoint parse_checkpoint(const std::string& bytes);
void store_checkpoint(const std::filesystem::path& path, const ChainCheckpoint& checkpoint);

/// Everything that a checkpoint and the states file hold of one chain.
ChainResult load_chain(const RunFolder& folder, std::size_t chain, const Manifest& manifest,
                       const std::vector<std::size_t>& columns, const ChainCheckpoint& checkpoint);

}  // namespace rehmc
