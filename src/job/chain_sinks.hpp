// The sinks of one chain of a job.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chain_checkpoint.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/output/memory_sinks.hpp"
#include "rehmc/output/metric_file.hpp"
#include "rehmc/output/recycled_csv.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/stan_csv.hpp"
#include "rehmc/output/states_file.hpp"

namespace rehmc {

/// Whether the run recycles.
bool recycles(const RunSettings& settings);
/// Whether it writes the quantities of kept states as text.
bool writes_recycled_csv(const RunSettings& settings);

/// All draws in memory and in files; or, if draws are not stored, running summaries.
class ChainSinks {
 public:
  /// The run and the index of a chain.
  struct Place {
    const Manifest& manifest;
    const RunFolder& folder;
    const std::vector<std::size_t>& columns;
    std::size_t chain;
  };

  /// New files, or those of a chain that continues from a checkpoint; the result then holds the
  /// draws up to there. `summed_gradients`: draws carry the means of their gradients. The mutex
  /// guards the record of sampling.
  ChainSinks(const Place& place, ChainResult& result, const ChainCheckpoint* stored,
             bool summed_gradients, std::mutex& mutex);

  /// In the order in which they get each draw.
  const std::vector<Sink*>& list() const { return all_; }
  std::size_t waiting() const;
  void sync();
  void finish(const ChainFacts& facts);
  /// Stores the valid lengths of the files, after a sync().
  void mark(ChainCheckpoint& checkpoint) const;

 private:
  void open_files(const Place& place, const ChainCheckpoint* stored);

  MetricSink metric_;
  std::optional<RunningSink> running_;
  std::optional<RecordSink> record_;
  std::optional<StanCsvSink> draws_;
  std::optional<StatesSink> states_;
  std::optional<RecycledCsvSink> recycled_;
  std::vector<Sink*> all_;
};

}  // namespace rehmc
