// The result of a run: the records of all chains, their tuning, and their cost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/chain_facts.hpp"
#include "rehmc/output/chain_record.hpp"
#include "rehmc/output/running_record.hpp"

namespace rehmc {

/// One chain: its facts, and its draws.
struct ChainResult : ChainFacts {
  ChainRecord record;
  /// Instead of the record, if draws were not stored and sampling has begun.
  std::shared_ptr<const RunningRecord> running{};
  ChainRecord warmup{};  ///< draws and statistics of warmup; empty unless it was recorded

  ChainFacts& facts() { return *this; }
};

/// Draws of a chain, stored or not.
inline std::uint64_t draws_of(const ChainResult& chain) {
  return chain.running ? chain.running->counts().draws
                       : static_cast<std::uint64_t>(chain.record.size());
}

struct SampleResult {
  std::vector<std::string> names;          ///< of the columns of the records
  std::vector<Quantity> quantities{};      ///< likewise; empty if nothing more than names is known
  std::vector<std::string> coordinates{};  ///< names of the coordinates of states
  std::uint64_t seed = 0;
  KernelSettings kernel;
  bool recycle_generated = false;  ///< whether kept states have generated quantities
  /// The run was stopped before all draws were taken: chains may have different numbers of draws,
  /// or none. cut_to_shortest() makes them equal.
  bool stopped = false;
  std::vector<ChainResult> chains;
  /// Archives of the chains, if they were to be kept; empty for a chain that never began.
  std::vector<std::string> stored_chains{};

  /// Whether a value in this column depends on random numbers besides the state.
  bool is_random(std::size_t column) const {
    return column < quantities.size() && quantities[column].is_random();
  }
  /// Whether the values of kept states are known in this column.
  bool knows_kept(std::size_t column) const {
    if (is_random(column) && !recycle_generated) return false;
    return chains.front().running || chains.front().record.kept_place(column);
  }
  /// Whether there are recycled estimates in this column.
  bool recycles(std::size_t column) const {
    return kernel.recycling.kind != RecyclingKind::none && knows_kept(column);
  }
};

}  // namespace rehmc
