// Stores a tuning, and restores it to the bit.
#include "rehmc/dynamics/tuning.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc {

void Tuning::archive(ArchiveWriter& archive) const {
  archive(step_size, metric->kind(), static_cast<std::uint64_t>(metric->dimension()),
          metric->numbers());
}

void Tuning::archive(ArchiveReader& archive) {
  archive(step_size);
  const auto kind = archive.get<MetricKind>();
  const auto dimension = static_cast<std::size_t>(archive.get<std::uint64_t>());
  const auto numbers = archive.get<std::vector<double>>();
  // Of a dimension out of all proportion, the square would wrap around.
  if (kind != MetricKind::unit && dimension > numbers.size()) {
    throw DataError("a stored metric has fewer numbers than dimensions");
  }
  try {
    metric = make_metric(kind, dimension, numbers);
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
}

}  // namespace rehmc
