// A run that writes its output to a folder; new, resumed or extended, the bits are the same.
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
#include "rehmc/run/chain_loop.hpp"
#include "rehmc/run/engine.hpp"
#include "rehmc/run/progress.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc {

class ChainJob;
struct Condition;
struct Look;

/// Samples all chains of a run in parallel, and writes files and checkpoints along the way.
class Job {
 public:
  /// The folder must exist. Chains with a checkpoint continue from it; others start.
  Job(const Density& density, const Manifest& manifest, const RunFolder& folder,
      ThreadHooks hooks = {});
  ~Job();

  /// Samples until all draws are taken, the conditions of `until` hold, or `interrupts` is no
  /// longer 0. Then all files are valid and on the disk. Throws what the first failing chain threw,
  /// after the others have stored what they had.
  void run(const std::atomic<int>& interrupts);

  /// Whether every chain has taken all its draws.
  bool complete() const;
  /// The results so far. Only while no chain runs.
  const SampleResult& result() const { return result_; }
  /// The same, moved out; the job can no longer run.
  SampleResult take_result() && { return std::move(result_); }
  /// Estimates of the draws at which `until` stopped, moved out: a look makes them all the same.
  std::optional<RunEstimates> take_estimates() &&;
  /// Why `until` stopped the run, or did not; empty without it.
  const std::string& until_verdict() const { return until_verdict_; }
  /// Problems with checkpoints that were solved by using an earlier one.
  std::vector<std::string> problems() const;

  const Progress& progress() const { return progress_; }

  /// Current R-hat and ESS of one scalar: 0 for the log density, then the parameters. From the
  /// draws that all chains have so far; nothing if there are too few. May be called during the run.
  std::optional<Convergence> converges(std::size_t scalar) const;
  /// The number of these scalars.
  std::size_t scalars() const { return 1 + columns_.size(); }
  /// Draws so far, summed over chains.
  std::size_t draws_so_far() const;

 private:
  void run_chains_to(std::uint64_t draws, const std::atomic<int>& interrupts);
  /// The same for some chains: whole groups.
  void run_range_to(std::uint64_t draws, const ChainRange& range, std::atomic<bool>& failed,
                    const Stop& stop);
  /// Opens these chains. A group whose checkpoints are from different stages of a pooled warmup,
  /// because one was lost or damaged, starts again.
  void open_groups(const ChainRange& range, std::atomic<bool>& failed, const Stop& stop);
  /// Stores the chains of a group that share a warmup, if it is time to: all or none, so that a run
  /// that is killed finds them at the same stage.
  void store_group(const ChainRange& group, bool stopped);
  bool judge_until(const std::vector<Condition>& conditions, std::uint64_t draws, bool last);
  /// Whether the parameters that are furthest from meeting conditions on MCSEs meet them.
  bool furthest_meet(const std::vector<Condition>& conditions, const Look& look) const;

  Manifest manifest_;
  RunFolder folder_;
  std::string essence_;  ///< of the manifest
  std::vector<std::size_t> columns_;
  Progress progress_;
  Engine engine_;
  SampleResult result_;  ///< the chains add to it
  std::vector<std::unique_ptr<ChainJob>> chains_;
  std::string until_verdict_;
  std::optional<RunEstimates> estimates_;    ///< of the latest look, if all were made
  std::optional<std::uint64_t> stopped_at_;  ///< draws at which `until` ended the run
};

/// Loads the run of a folder as of its checkpoints; needs no model. DataError or NoInputError
/// if a checkpoint or a states file is lost or damaged; the message says which one, and
/// what can still be read.
SampleResult load_run(const RunFolder& folder, const Manifest& manifest);

/// Throws as above if a file that a longer run would append to is lost or damaged. Chains without a
/// checkpoint start over and need none. Chains run side by side: only before the first of them
/// writes can a refusal leave the folder as it is.
void require_growing_files(const RunFolder& folder, const Manifest& manifest);

}  // namespace rehmc
