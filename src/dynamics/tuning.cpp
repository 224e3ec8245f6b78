// Stores a tuning, and restores it to the bit.
#include "rehmc/dynamics/tuning.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rehmc {

void Tuning::archive(ArchiveWriter& archive) const {
  archive(step_size, metric->kind(), static_cast<std::uint64_t>(metric->dimension()),
          metric->numbers());
}

void Tuning::archive(ArchiveReader& archive) {
  archive(step_size);
  const auto kind = archive.get<MetricKind>();
  const auto dimension = static_cast<std::size_t>(archive.get<std::uint64_t>());
  metric = make_metric(kind, dimension, archive.get<std::vector<double>>());
}

}  // namespace rehmc
