// Warmup of chains that adapt alone, and pool what they have seen at shared iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rehmc/adapt/acceptance_curve.hpp"
#include "rehmc/adapt/state_sample.hpp"
#include "rehmc/adapt/warmup.hpp"
#include "rehmc/adapt/warmup_story.hpp"

namespace rehmc {

/// What was still wrong when warmup ended: bits of a set.
enum WarmupTrouble : std::uint32_t {
  metric_changes = 1,     ///< another metric would have been better
  step_size_changes = 2,  ///< the step size had not settled
  drifts = 4,             ///< the log density drifted
  rejects = 8,            ///< a chain rejected most of its steps
  depth_limit = 16,       ///< trees stopped at the depth limit
  apart = 32,             ///< this chain is where the others would find hardly any mass
  own_step_size = 64,     ///< this chain could not live with the step size of its group
};

/// A set of chains of a group, by their places.
using ChainSet = std::uint64_t;

/// What a group has agreed on at a shared iteration.
struct SharedTuning {
  std::uint64_t stage = 0;  ///< shared iterations so far
  Tuning tuning;
  bool ended = false;  ///< warmup is over
  StageStory story;    ///< of the stage, but for gradients
  WarmupStory end;     ///< of the whole, but for start and stages; once warmup is over

  std::uint32_t troubles = 0;          ///< of the group, once warmup is over
  std::vector<double> own_step_sizes;  ///< of all chains, 0 for the shared one; empty: all share
  ChainSet apart = 0;
  ChainSet restarts = 0;   ///< chains that must start again elsewhere
  ChainSet restarted = 0;  ///< so far, these included: each chain does so once

  template <class Archive>
  void archive(Archive& archive) {
    archive(stage, tuning, ended, story, end, troubles, own_step_sizes, apart, restarts, restarted);
  }
};

/// Consecutive chain numbers that learn together. Draws depend on it.
inline constexpr std::size_t most_chains_of_group = 16;

/// The iterations at whose end a group pools: 12, 18, 27 and so on, and the last one of warmup.
int end_of_stage(std::uint64_t stage, int iterations);

/// What a chain has seen in the stage that it has just done.
struct StageEvidence {
  const SharedTuning& shared;   ///< what the stage began with
  const StateSample& previous;  ///< states of the stage before
  const StateSample& current;
  std::span<const StepTrial> trials;
  std::span<const double> log_densities;  ///< of the draws
};

/// One chain's part of a pooled warmup.
class PooledWarmup {
 public:
  /// The kernel must have a position. `found`: the metric that the search for a start found there,
  /// or nullptr.
  PooledWarmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
               const Address& address, std::shared_ptr<const Metric> found);
  /// Continues a stored warmup.
  PooledWarmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
               const Address& address, ArchiveReader& stored);
  void archive(ArchiveWriter& archive) const;

  bool done() const { return shared_.ended; }
  /// Whether the chain must wait for its group.
  bool waiting() const {
    return !done() && iteration_ == end_of_stage(shared_.stage, settings_.iterations);
  }
  int iteration() const { return iteration_; }
  /// Takes one transition and adapts the step size to it. The chain must not be waiting.
  const Transition& step();
  /// Continues with what the group has agreed on.
  void adopt(const SharedTuning& shared);
  /// Whether the group asks the chain to start again elsewhere.
  bool must_restart() const { return (shared_.restarts & place()) != 0; }
  /// Continues there.
  void restart(std::span<const double> position);
  /// Bits of WarmupTrouble, once warmup is over.
  std::uint32_t troubles() const { return troubles_; }

  const Tuning& tuning() const { return tuning_; }
  const Kernel& kernel() const { return *kernel_; }
  const WarmupSettings& settings() const { return settings_; }
  StageEvidence evidence() const;
  FrozenKernel finish() &&;

 private:
  /// DataError if what was restored fits neither the model nor the settings nor itself.
  void require_whole() const;
  void begin_stage();
  void use_kernel(bool early);
  Address address() const;
  ChainSet place() const;
  std::size_t states_of_draw() const;
  void take_own_end();

  KernelSettings kernel_settings_;
  std::unique_ptr<Kernel> kernel_;
  WarmupSettings settings_;
  Address address_;
  Tuning tuning_;
  SharedTuning shared_;
  int iteration_ = 0;
  std::uint32_t troubles_ = 0;
  bool early_ = false;                 ///< with trees of limited depth
  StateSample previous_;               ///< of the last stage
  StateSample current_;                ///< of this stage
  std::vector<StepTrial> trials_;      ///< of this stage
  std::vector<double> log_densities_;  ///< of the draws of this stage
};

}  // namespace rehmc
