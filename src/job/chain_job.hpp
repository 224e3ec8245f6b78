// One chain of a job: samples, writes its files, and stores checkpoints.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rehmc/job/manifest.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/running_record.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/run/chain.hpp"
#include "rehmc/run/progress.hpp"

namespace rehmc {

/// What a checkpoint tells to those who do not have the model.
struct ChainFacts {
  std::uint64_t iteration = 0;
  std::uint64_t warmup_stored = 0;  ///< draws of warmup in the file of states
  std::uint64_t draws = 0;          ///< draws of sampling in it
  bool sampling = false;
  Tuning tuning;
  std::vector<double> centre;  ///< of the recorded quantities
  std::uint64_t gradients_warmup = 0;
  std::uint64_t gradients_sampling = 0;
  std::uint64_t divergences_warmup = 0;
  SpotCheck spot_check;
  double seconds_warmup = 0;
  double seconds_sampling = 0;
  std::array<std::uint64_t, fault_count> faults{};
  std::string first_message;
  QuantityFailures quantity_failures;
  std::uint64_t draws_bytes = 0;  ///< of the Stan CSV file, without what closes it
  std::uint64_t recycled_bytes = 0;
  std::uint64_t states_bytes = 0;

  template <class Archive>
  void archive(Archive& a) {
    a(iteration, warmup_stored, draws, sampling, tuning, centre, gradients_warmup,
      gradients_sampling, divergences_warmup, spot_check, seconds_warmup, seconds_sampling, faults,
      first_message, quantity_failures, draws_bytes, recycled_bytes, states_bytes);
  }
};

/// A checkpoint, but for the chain itself, which needs the model.
struct StoredChain {
  ChainFacts facts;
  std::string chain;
  std::optional<RunningRecord> running;  ///< if draws are not stored

  template <class Archive>
  void archive(Archive& a) {
    a(facts, chain, running);
  }
};

/// The files that grow with the draws.
struct DrawFiles {
  GrowingFile draws;
  GrowingFile states;
  std::optional<GrowingFile> recycled;

  std::size_t waiting() const;
  void sync();
};

/// The facts and the draws of one chain, from its folder.
ChainResult load_chain(const RunFolder& folder, std::size_t chain, const Manifest& manifest,
                       const std::vector<std::size_t>& columns, const ChainFacts& facts);

/// Why to stop before all draws are taken.
struct Stop {
  const std::atomic<int>* interrupts;
  const std::atomic<bool>* failed;  ///< another chain

  bool raised() const {
    return interrupts->load(std::memory_order_relaxed) != 0 ||
           failed->load(std::memory_order_relaxed);
  }
};

class ChainJob {
 public:
  struct Place {
    const Density* density;
    const Manifest* manifest;
    const RunFolder* folder;
    const std::vector<std::size_t>* columns;
    std::size_t chain;
    std::size_t chains_per_thread;  ///< that take turns with this one
    ChainProgress* progress;
  };
  explicit ChainJob(const Place& place) : place_(place) {}

  /// Goes on from the checkpoint, or begins. Once.
  void open();
  /// Samples up to so many draws, or until `stop`; then the files are valid and on the disk.
  void advance(std::uint64_t draws, const Stop& stop);

  bool opened() const { return chain_ != nullptr; }
  std::uint64_t draws() const {
    return running_ ? running_->counts().draws : static_cast<std::uint64_t>(record_.size());
  }
  const std::vector<std::string>& problems() const { return problems_; }
  ChainResult result() const;

  /// Calls `look(record)` while no draw is being added.
  template <class Look>
  void with_record(Look&& look) const {
    const std::lock_guard lock(mutex_);
    look(record_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void begin(const std::string& csv_head);
  void resume(const std::string& checkpoint);
  void begin_sampling();
  void step();
  std::vector<double> rough_scale();
  SummedFeatures summed() const;
  void store_draw(const ChainRecord& record, std::size_t draw);
  void report_progress(const Transition* transition);
  void checkpoint();
  bool checkpoint_is_due() const;
  void add_seconds();
  Address address() const;
  std::vector<std::string> names() const;
  const RunSettings& settings() const { return place_.manifest->settings; }

  Place place_;
  std::vector<std::string> problems_;
  std::unique_ptr<Chain> chain_;
  std::optional<QuantityReader> reader_;
  ChainRecord record_;
  ChainRecord warmup_;
  mutable std::mutex mutex_;  ///< guards record_
  QuantityFailures failures_;
  double seconds_warmup_ = 0;
  double seconds_sampling_ = 0;
  std::shared_ptr<RunningRecord> running_;  ///< if draws are not stored
  std::optional<DrawFiles> files_;          ///< unless draws are not stored
  std::uint64_t num_samples_at_ = 0;
  std::uint64_t num_samples_width_ = 0;
  ArchiveWriter scratch_;
  Clock::time_point last_tick_;
  Clock::time_point last_checkpoint_;
  Clock::duration checkpoint_took_{};
};

}  // namespace rehmc
