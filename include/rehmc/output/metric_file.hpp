// Metrics in files: CmdStan's JSON, written and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rehmc/dynamics/metric.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/sink.hpp"

namespace rehmc {

/// `{"stepsize": x, "metric_type": "diag_e", "inv_metric": [...]}`; nested rows for dense_e, ones
/// for unit_e, so that each file can be read back as a metric. Low-rank metrics are written as
/// dense ones.
std::string metric_json(const Tuning& tuning);

/// Writes the metric file of a chain when its sampling begins.
class MetricSink final : public Sink {
 public:
  /// `hash` is that of the file, if there is one already.
  explicit MetricSink(std::filesystem::path path, std::string hash = {})
      : path_(std::move(path)), hash_(std::move(hash)) {}
  void begin(const SamplingStart& start) override;
  void add(const ReadDraw& /*draw*/, std::uint64_t /*index*/) override {}
  /// content_hash() of the file; empty before sampling begins.
  const std::string& hash() const { return hash_; }

 private:
  std::filesystem::path path_;
  std::string hash_;
};

/// The metric in such a file: `inv_metric` alone suffices, a vector for a diagonal metric or a
/// matrix for a dense one. DataError names the file, the key, what was found and what was expected.
std::shared_ptr<const Metric> read_metric_file(const std::filesystem::path& path,
                                               std::size_t dimension);

/// The step size in such a file, if there is one. DataError if it is not a positive number.
std::optional<double> read_metric_step_size(const std::filesystem::path& path,
                                            std::size_t dimension);

}  // namespace rehmc
