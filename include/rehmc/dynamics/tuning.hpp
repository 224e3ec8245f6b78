// Step size and metric: what warmup tunes and sampling holds fixed.
#pragma once

#include <memory>

#include "rehmc/core/archive.hpp"
#include "rehmc/dynamics/metric.hpp"

namespace rehmc {

struct Tuning {
  double step_size = 1;
  std::shared_ptr<const Metric> metric;

  void archive(ArchiveWriter& archive) const;
  void archive(ArchiveReader& archive);
};

}  // namespace rehmc
