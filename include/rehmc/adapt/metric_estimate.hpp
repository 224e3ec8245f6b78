// Estimates a metric from the states of a warmup window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/features.hpp"

namespace rehmc {

/// Which states a metric is estimated from.
enum class MetricSource {
  recycled,  ///< all states of every trajectory with their weights (Nishimura & Dunson 2020,
             ///< section 5)
  draws,     ///< only the states of the chain
};

/// Gathers weighted moments over one window and turns them into a diagonal or dense metric with
/// Stan's shrinkage, N/(5+N) Sigma + 5/(5+N) 1e-3 I: eq. (5.3) of Nishimura & Dunson (2020).
class MetricEstimate {
 public:
  /// `centre`: any point in the bulk of the target; moments are taken about it.
  MetricEstimate(MetricKind kind, MetricSource source, std::span<const double> centre);

  /// What the kernel must sum for this estimate; nullptr if nothing.
  const Features* features() const;

  void add(const Transition& transition);
  std::size_t count() const { return count_; }

  /// The metric, or nullptr after fewer than two draws or if the moments are not finite.
  std::shared_ptr<const Metric> metric() const;

  /// The sums so far; the centre is the constructor's.
  template <class Archive>
  void archive(Archive& archive) {
    const std::size_t size = sums_.size();
    archive(sums_, count_);
    if (sums_.size() != size) {
      throw DataError("stored sums are of another dimension than the model");
    }
  }
  std::span<const double> centre() const { return centre_; }

 private:
  MetricKind kind_;
  MetricSource source_;
  std::vector<double> centre_;
  std::unique_ptr<const Features> features_;
  std::vector<double> sums_;
  std::uint64_t count_ = 0;
};

}  // namespace rehmc
