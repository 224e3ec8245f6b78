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

/// What a group has agreed on at a shared iteration.
struct SharedTuning {
  std::uint64_t stage = 0;  ///< shared iterations so far
  Tuning tuning;
  bool ended = false;  ///< warmup is over
  StageStory story;    ///< of the stage, but for gradients
  WarmupStory end;     ///< of the whole, but for start and stages; once warmup is over

  template <class Archive>
  void archive(Archive& archive) {
    archive(stage, tuning, ended, story, end);
  }
};

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
  /// The kernel must have a position. `metric`: the first one, nullptr for the one of the settings.
  PooledWarmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
               const Address& address, std::shared_ptr<const Metric> metric);
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

  const Tuning& tuning() const { return tuning_; }
  const Kernel& kernel() const { return *kernel_; }
  const WarmupSettings& settings() const { return settings_; }
  StageEvidence evidence() const;
  FrozenKernel finish() &&;

 private:
  void begin_stage();
  void use_kernel(bool early);
  Address address() const;
  std::size_t states_per_draw() const;

  KernelSettings kernel_settings_;
  std::unique_ptr<Kernel> kernel_;
  WarmupSettings settings_;
  Address address_;
  Tuning tuning_;
  SharedTuning shared_;
  int iteration_ = 0;
  bool early_ = false;                 ///< with trees of limited depth
  StateSample previous_;               ///< of the last stage
  StateSample current_;                ///< of this stage
  std::vector<StepTrial> trials_;      ///< of this stage
  std::vector<double> log_densities_;  ///< of the draws of this stage
};

}  // namespace rehmc
