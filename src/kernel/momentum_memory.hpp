// The momentum that a chain keeps from draw to draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/dynamics/dynamics.hpp"

namespace rehmc {

/// With a share of 0 it keeps, stores and costs nothing. A momentum is of use only under the metric
/// it was drawn with, so a new metric draws it afresh. After a restart that metric is recognised by
/// its hash.
class MomentumMemory {
 public:
  MomentumMemory(double share, std::size_t dimension);

  /// What to begin the next path with under this tuning: nothing where there is no momentum yet.
  std::optional<KeptMomentum> use(const Tuning& tuning);
  /// Keeps this momentum, or for sign -1 its opposite.
  void keep(const double* momentum, double sign);
  void forget() { known_ = false; }

  void archive(ArchiveWriter& archive) const;
  void archive(ArchiveReader& archive);

 private:
  double share_;
  std::vector<double> momentum_;
  bool known_ = false;
  std::shared_ptr<const Metric> metric_;
  std::uint64_t metric_hash_ = 0;
};

}  // namespace rehmc
