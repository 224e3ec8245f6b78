// What a run yields: the records of all chains, their tuning, and what they cost.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/spot_check.hpp"
#include "rehmc/output/chain_record.hpp"
#include "rehmc/output/running_record.hpp"

namespace rehmc {

/// One chain, after sampling.
struct ChainResult {
  ChainRecord record;
  /// Instead of the record, if draws were not stored and sampling has begun.
  std::shared_ptr<const RunningRecord> running{};
  ChainRecord warmup{};  ///< draws and statistics of warmup; empty unless it was recorded
  Tuning tuning;
  std::uint64_t gradients_warmup = 0;
  std::uint64_t gradients_sampling = 0;
  std::uint64_t divergences_warmup = 0;
  SpotCheck spot_check{};  ///< of the gradient
  double seconds_warmup = 0;
  double seconds_sampling = 0;
  std::array<std::uint64_t, fault_count> faults{};  ///< of the model, by cause, over the whole run
  std::string first_message{};                      ///< what the model said when it first threw
  QuantityFailures quantity_failures{};             ///< after warmup
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
  std::vector<ChainResult> chains;

  /// Whether the kept states have values in this column, so that there are recycled estimates.
  bool recycles(std::size_t column) const {
    const bool generated = column < quantities.size() && quantities[column].generated;
    return kernel.recycling.kind != RecyclingKind::none && (recycle_generated || !generated);
  }
};

}  // namespace rehmc
