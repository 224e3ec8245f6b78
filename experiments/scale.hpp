// Sizes of the experiments: the paper's own, about twenty minutes, or a check of a few minutes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/test_case.hpp"

namespace rehmc::experiments {

enum class Scale { smoke, quick, full };
std::string describe(Scale scale);
/// By name. ConfigError lists the names.
Scale parse_scale(std::string_view name);

/// How much is simulated of one test case.
struct Size {
  std::size_t chains;      ///< of every kernel, whose errors are averaged
  std::size_t iterations;  ///< of each
  std::size_t groups;      ///< of chains, which give the Monte Carlo error; divides `chains`
  std::size_t pilot_chains;
  std::size_t pilot_warmup;
  std::size_t tuning_iterations;  ///< of dual averaging on all pilot chains together
  std::size_t truth_chains;       ///< multiple of truth_groups
  std::size_t truth_iterations;
  std::size_t burn_in;           ///< from a state of the ground truth to an independent one
  std::size_t component_chains;  ///< of every group, whose leading component is computed; 0: none

  static constexpr std::size_t truth_groups = 8;
};
Size size_of(Scale scale, CaseName name);

/// Cells along a side of the Cox process.
std::size_t cox_grid_of(Scale scale);

/// How much is simulated of the tuning of metrics.
struct TuningSize {
  std::vector<std::size_t> lengths;  ///< N_adapt; none: this case is left out
  std::size_t repetitions;
  std::size_t groups;  ///< divides `repetitions`
};
TuningSize tuning_size_of(Scale scale, CaseName name);

/// Runs of the study of gradients as control variates; 0: this case is left out.
std::size_t sharpening_runs_of(Scale scale, CaseName name);

struct OverheadSize {
  std::size_t builds;  ///< how often all kernels are built, each time elsewhere in memory
  std::size_t rounds;  ///< turns of every kernel of a build that are timed
};
OverheadSize overhead_size_of(Scale scale);

}  // namespace rehmc::experiments
