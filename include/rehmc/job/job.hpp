// A run that keeps its output in a folder: new, resumed or extended, to the bit the same.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/estimate/convergence.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/run/engine.hpp"
#include "rehmc/run/progress.hpp"

namespace rehmc {

class ChainJob;
struct Condition;

/// Samples all chains of a run, side by side, and keeps files and checkpoints as it goes.
class Job {
 public:
  /// The folder must exist. Chains that have a checkpoint there go on from it; others begin.
  Job(const Density& density, const Manifest& manifest, const RunFolder& folder);
  ~Job();

  /// Samples until all draws are taken, the conditions of `until` hold, or `interrupts` is not 0
  /// any more. Then all files are valid and on the disk. Throws what the first failing chain threw,
  /// after the others have stored what they had.
  void run(const std::atomic<int>& interrupts);

  /// Whether every chain took all the draws it was meant to.
  bool complete() const;
  /// What there is of every chain. Only while no chain runs.
  const SampleResult& result() const { return result_; }
  /// The same, moved out; the job cannot run any more.
  SampleResult take_result() && { return std::move(result_); }
  /// Why `until` stopped the run, or did not; empty without it.
  const std::string& until_verdict() const { return until_verdict_; }
  /// What was found wrong with checkpoints, and mended by going back further.
  std::vector<std::string> problems() const;

  const Progress& progress() const { return progress_; }

  /// R-hat and ESS of one scalar as it stands: 0 for the log density, then the parameters. From the
  /// draws that all chains have so far; nothing if those are too few. May be called while it runs.
  std::optional<Convergence> converges(std::size_t scalar) const;
  /// How many scalars there are to ask for.
  std::size_t scalars() const { return 1 + columns_.size(); }
  /// Draws that all chains have so far, together.
  std::size_t draws_so_far() const;

 private:
  void run_chains_to(std::uint64_t draws, const std::atomic<int>& interrupts);
  bool judge_until(const std::vector<Condition>& conditions, bool sharpens, std::uint64_t look);

  Manifest manifest_;
  RunFolder folder_;
  std::vector<std::size_t> columns_;
  Progress progress_;
  Engine engine_;
  SampleResult result_;  ///< the chains add to it
  std::vector<std::unique_ptr<ChainJob>> chains_;
  std::string until_verdict_;
  std::optional<std::uint64_t> stopped_at_;  ///< draws at which `until` ended the run
};

/// The run of a folder as its checkpoints have it; needs no model.
SampleResult load_run(const RunFolder& folder, const Manifest& manifest);

}  // namespace rehmc
