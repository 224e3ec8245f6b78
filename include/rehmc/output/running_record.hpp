// The bounded sink: running summaries and counts of one chain, and no draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/quantity_reader.hpp"
#include "rehmc/running/running_summary.hpp"

namespace rehmc {

/// Counts of one chain, and the sums that the E-BFMI of its energies needs.
struct RunningCounts {
  std::uint64_t draws = 0;
  std::uint64_t divergences = 0;
  std::uint64_t depth_limit_hits = 0;
  double last_energy = 0;
  double mean_energy = 0;
  double energy_squares = 0;  ///< sum of squared deviations from the mean (West 1979)
  double energy_changes = 0;  ///< sum of squared changes from draw to draw

  void add(const Transition& transition);
  /// As energy_bfmi() of all energies.
  double ebfmi() const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(draws, divergences, depth_limit_hits, last_energy, mean_energy, energy_squares,
            energy_changes);
  }
};

/// What is kept of a chain if its draws are not stored: memory does not grow with their number.
class RunningRecord {
 public:
  RunningRecord() = default;
  /// `centre`: what moments are taken about; `scale`: a rough standard deviation of each quantity.
  /// With `gradients`, draws must carry their means.
  RunningRecord(std::span<const double> centre, std::span<const double> scale, bool recycling,
                bool gradients = false);

  void add(const ReadDraw& draw);

  const RunningSummary& summary() const { return summary_; }
  const RunningCounts& counts() const { return counts_; }

  template <class Archive>
  void archive(Archive& archive) {
    archive(summary_, counts_);
  }

 private:
  RunningSummary summary_;
  RunningCounts counts_;
};

}  // namespace rehmc
