// Metrics in files: CmdStan's JSON, written and read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "rehmc/dynamics/metric.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// `{"stepsize": x, "metric_type": "diag_e", "inv_metric": [...]}`; nested rows for dense_e, ones
/// for unit_e, so that each file can be given back as a metric. Low-rank metrics are told as dense
/// ones.
std::string metric_json(const Tuning& tuning);

/// The metric in such a file: `inv_metric` alone suffices, a vector for a diagonal metric or a
/// matrix for a dense one. DataError names the file, the key, what was found and what was expected.
std::shared_ptr<const Metric> read_metric_file(const std::filesystem::path& path,
                                               std::size_t dimension);

}  // namespace rehmc
