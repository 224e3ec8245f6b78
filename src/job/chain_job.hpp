// One chain of a job: a chain, its sinks and its checkpoint.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chain_sinks.hpp"
#include "rehmc/run/chain_loop.hpp"

namespace rehmc {

class ChainJob {
 public:
  struct Place {
    const Density* density;
    const Manifest* manifest;
    const std::string* essence;  ///< of the manifest
    const RunFolder* folder;
    const std::vector<std::size_t>* columns;
    std::size_t chain;
    std::size_t chains_per_thread;  ///< that take turns with this one
    ChainProgress* progress;
    ChainResult* result;  ///< where its draws go
  };
  explicit ChainJob(const Place& place) : place_(place) {}

  /// Continues from the checkpoint, or starts. Call it once.
  void open();
  /// Samples up to this many draws, or until `stop`; then the files are valid and on the disk. Or
  /// until the chain must wait for its group: then the job decides when it is stored.
  void advance(std::uint64_t draws, const Stop& stop);

  /// Forgets the checkpoint and starts again.
  void start_again();
  /// How far a pooled warmup is: shared iterations so far, and a large number after the last one.
  std::uint64_t warmup_stage() const;
  /// Whether a chain in pooled warmup should be stored now: it is time, or sampling begins.
  bool must_store() const;
  /// Stores the chain if it is in pooled warmup.
  void store_warmup();
  /// nullptr before open().
  Chain* chain() const { return opened() ? &loop_->chain() : nullptr; }

  bool opened() const { return loop_ != nullptr; }
  std::uint64_t draws() const { return opened() ? loop_->draws() : 0; }
  /// What was wrong with the last checkpoint.
  const std::vector<std::string>& problems() const { return problems_; }

  /// Calls `look(record)` while no draw is being added.
  template <class Look>
  void with_record(Look&& look) const {
    const std::lock_guard lock(mutex_);
    look(place_.result->record);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<ChainCheckpoint> read_stored();
  void restore_metric_file(const ChainCheckpoint& stored);
  std::unique_ptr<Chain> make_chain(const ChainCheckpoint* stored) const;
  SummedFeatures summed() const;
  void open_from(const ChainCheckpoint* stored);
  bool shares_warmup() const { return opened() && loop_->chain().pooled() != nullptr; }
  void store();
  void checkpoint();
  bool checkpoint_is_due() const;
  const RunSettings& settings() const { return place_.manifest->settings; }

  Place place_;
  std::vector<std::string> problems_;
  mutable std::mutex mutex_;  ///< guards the record of the result
  std::optional<ChainSinks> sinks_;
  std::unique_ptr<ChainLoop> loop_;
  Clock::time_point last_checkpoint_;
  Clock::duration checkpoint_took_{};
};

}  // namespace rehmc
