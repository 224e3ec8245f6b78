// What recycling costs: processor time and memory of the library's kernels, measured in turns.
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
  Measured time_percent;      ///< of the kernel, over one that keeps only its next state
  Measured stored_percent;    ///< the same with the time to copy kept states to memory
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
/// same work otherwise. They take turns of a few hundredths of a second of the thread's CPU time.
///
/// The addresses of the model's data and a kernel's buffers decide which of them compete for the
/// same cache lines, which changes the time of a cheap step by tens of percent. Therefore the
/// density and all kernels are built many times, after gaps of random width: percentages are
/// medians over builds (of medians over the turns of a build) of the ratio to `none`, and their
/// errors come from the variation between builds.
///
/// Gradients are evaluated one at a time. Nothing is computed from the states; some kernels store
/// them, like a run that keeps everything in memory.
std::vector<OverheadRow> run_overhead(const Workshop& workshop, const TestCase& test_case,
                                      const Preparation& preparation, const Truth& truth,
                                      const std::function<Density()>& make_density);

/// overhead.csv.
void write_overhead(std::span<const OverheadRow> rows, const std::filesystem::path& folder);

/// Median, and its standard error: 1.2533 times that of a mean, with the sd from the quartiles, so
/// that a few disturbed values do not count.
Measured median_of(std::vector<double> values);

}  // namespace rehmc::experiments
