// Sharpens the summary of a run by the gradients of its states, where that can be trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/sharpen/sharpen.hpp"
#include "rehmc/summary/summary.hpp"

namespace rehmc {

/// How the gradients of a run fared.
struct Sharpening {
  SpotCheck spot_check;  ///< the first of a chain that failed, or that of the first chain
  /// None if gradients were neither kept nor summed.
  std::optional<SteinCheck> check;
  std::string worst_name;  ///< the coordinate that the check found worst
  /// Why nothing was sharpened; empty if something was.
  std::string refused;
};

/// Health that a parameter's chains must have, lest sharpening make a wrong answer look precise.
inline constexpr double most_rhat_to_sharpen = 1.01;
inline constexpr double least_ess_to_sharpen = 400;

/// In fewer draws, of all chains together, tails that features leave are too rarely seen to tell
/// how large an error they make.
inline constexpr std::size_t least_draws_to_sharpen = 1000;

/// Beyond these in any parameter, chains have not mixed, and features of all coordinates are off.
inline constexpr double most_rhat_of_any = 1.05;
inline constexpr double least_ess_of_any = 100;
/// With a larger share of divergent draws, chains shun parts of the target: no gradient that they
/// have seen can tell.
inline constexpr double most_divergent_share = 0.005;

/// Fills in `sharpened` and `not_sharpened` of every parameter of a summary of the same run. With
/// `check_only`, only the Stein check is made. Of a run without stored draws, the summary has
/// `sharpened` from its batch sums already, unless `check_only`; what cannot be trusted is taken
/// away.
Sharpening sharpen_run(const SampleResult& result, std::vector<ParameterSummary>& parameters,
                       bool check_only = false);

}  // namespace rehmc
