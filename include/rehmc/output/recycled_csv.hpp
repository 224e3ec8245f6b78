// Recycled states as CSV: every state that was kept, with its weight within its draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/output/sink.hpp"

namespace rehmc {

/// The line of columns: `chain__,iter__,slot__,log_weight__`, then the parameters.
std::string recycled_csv_head(const std::vector<std::string>& names);

/// One line for every kept state of a draw: the chain, the draw (from 1, over sampling, before
/// thinning), the index among the states of the draw (from 1), the logarithm of the weight, and the
/// recorded quantities; the weights of a draw sum to 1. `index` counts draws from 0.
void append_recycled_rows(std::string& to, const ReadDraw& draw, std::uint64_t index, int chain);

/// The file of a chain whose kept states are in its record; unknown columns are NaN. With
/// calibrated weights, one for each of these states, it has the column `calibrated_log_weight__` at
/// its end.
std::string recycled_csv(const SampleResult& result, std::size_t chain, std::uint64_t thin,
                         std::span<const double> calibrated = {});

/// Writes the kept states of every `thin`-th draw. Warmup keeps none.
class RecycledCsvSink final : public Sink {
 public:
  /// A new file; `chain` counts from 1.
  RecycledCsvSink(const std::filesystem::path& path, const std::vector<std::string>& names,
                  int chain, std::uint64_t thin);
  /// Appends after the sealed bytes of a file.
  RecycledCsvSink(const std::filesystem::path& path, const FileSeal& seal, int chain,
                  std::uint64_t thin);

  void begin(const SamplingStart& /*start*/) override {}
  void add(const ReadDraw& draw, std::uint64_t index) override;
  void sync() override { file_.sync(); }
  std::size_t waiting() const override { return file_.waiting().size(); }
  /// As of the last sync.
  FileSeal seal() const { return file_.seal(); }

 private:
  GrowingFile file_;
  int chain_;
  std::uint64_t thin_;
};

}  // namespace rehmc
