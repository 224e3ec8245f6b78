// The states file of a chain: every draw with its kept states, as rehmc itself reads them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/output/sink.hpp"

namespace rehmc {

/// The state of a states file: what is needed to read it and to append to it.
struct StatesMark {
  FileSeal seal{};
  std::uint64_t warmup_draws = 0;
  std::uint64_t draws = 0;
  std::vector<double> centre;  ///< of the recorded quantities; empty before sampling begins

  template <class Archive>
  void archive(Archive& archive) {
    archive(seal, warmup_draws, draws, centre);
  }
};

/// Writes draws; nothing is thinned or rounded, but gradients become single precision.
class StatesSink final : public Sink {
 public:
  /// A new file.
  StatesSink(const std::filesystem::path& path, KeptGradients gradients);
  /// Appends to the file of a chain.
  StatesSink(const std::filesystem::path& path, KeptGradients gradients, const StatesMark& mark);

  void begin(const SamplingStart& start) override;
  void add(const ReadDraw& draw, std::uint64_t index) override;
  void sync() override { file_.sync(); }
  std::size_t waiting() const override { return file_.waiting().size(); }

  /// As of the last sync.
  StatesMark mark() const;

 private:
  GrowingFile file_;
  KeptGradients gradients_;
  StatesMark mark_;
  ArchiveWriter scratch_;
};

/// Reads the draws of a states file into the records of a result, which must have their columns and
/// their coordinates. DataError if the file was changed, or holds less or more than the mark
/// states.
void read_states(const std::filesystem::path& path, const StatesMark& mark, ChainResult& result);

}  // namespace rehmc
