// What recycling costs: processor time and memory of the library's kernels, side by side.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "experiments/jackknife.hpp"
#include "experiments/truth.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc::experiments {

struct OverheadRow {
  CaseName name;
  KernelKind kernel;
  RecyclingKind recycling;
  std::size_t count = 0;      ///< K of spread
  Measured time_percent;      ///< of the kernel, beyond one that keeps nothing but its next state
  Measured stored_percent;    ///< likewise, with the time to copy what is kept to memory
  double kept_states = 0;     ///< per draw
  double bytes_per_draw = 0;  ///< of the positions and weights of these

  template <class Archive>
  void archive(Archive& archive) {
    archive(name, kernel, recycling, count, time_percent.value, time_percent.error,
            stored_percent.value, stored_percent.error, kept_states, bytes_per_draw);
  }
};

/// Slice NUTS and HMC at their tuned step sizes with the recycling none, spread:K (the paper's K)
/// and all, HMC also with stride:K, as in the paper. Recycling never changes a chain, so all do the
/// same work beside. They take turns of a few hundredths of a second, by the clock of the thread's
/// own CPU time.
///
/// Where the model's data and a kernel's buffers lie in memory decides which of them get into each
/// other's way in the cache, and moves the time of a cheap step by tenths. So the density and all
/// kernels are built many times, behind gaps of random width: percents are medians over builds (of
/// medians over the turns of a build) of the ratio to `none`, and their errors come from what
/// differs between builds.
///
/// Gradients are taken one by one, and nothing is computed of the states but that some kernels
/// store them, as a run does that keeps everything in memory.
std::vector<OverheadRow> run_overhead(const Workshop& workshop, const TestCase& test_case,
                                      const Preparation& preparation, const Truth& truth,
                                      const std::function<Density()>& make_density);

/// overhead.csv.
void write_overhead(std::span<const OverheadRow> rows, const std::filesystem::path& folder);

/// Median, and its standard error: 1.2533 times that of a mean, with the sd from the quartiles, so
/// that a few disturbed values do not count.
Measured median_of(std::vector<double> values);

}  // namespace rehmc::experiments
