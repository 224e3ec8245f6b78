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

/// The checks of the gradients of a run, and whether they could sharpen it.
struct Sharpening {
  SpotCheck spot_check;  ///< the first of a chain that failed, or that of the first chain
  /// None if gradients were neither kept nor summed.
  std::optional<SteinCheck> check;
  std::string worst_name;  ///< the coordinate that the check found worst
  /// Why nothing was sharpened; empty if something was.
  std::string refused;
};

/// A parameter is only sharpened if its chains have converged: otherwise sharpening would make a
/// wrong answer look precise. Its R-hat must not exceed most_healthy_rhat(), which knows the length
/// of the run, and its bulk ESS must be this large, or this share of the draws if that is less.
inline constexpr double least_ess_to_sharpen = 400;
inline constexpr double least_ess_per_draw = 0.25;

/// Nothing is sharpened with fewer draws, of all chains together. A fit asks for four training
/// draws per feature besides, and uses fewer features if there are not as many.
inline constexpr std::size_t least_draws_to_sharpen = 400;

/// Beyond these in any parameter, chains have not mixed, and the features of all coordinates may be
/// off. As above, R-hat may be as large as in healthy chains, and the ESS this share of the draws.
inline constexpr double most_rhat_of_any = 1.05;
inline constexpr double least_ess_of_any = 100;
inline constexpr double least_ess_of_any_per_draw = 0.125;
/// With a larger share of divergent draws, chains avoid parts of the target, which the gradients
/// elsewhere do not show.
inline constexpr double most_divergent_share = 0.005;

/// Fills in `sharpened` and `not_sharpened` of every parameter of a summary of the same run. With
/// `check_only`, only the Stein check is made. Of a run without stored draws, the summary has
/// `sharpened` from its chunk sums already, unless `check_only`; estimates that cannot be trusted
/// are removed.
Sharpening sharpen_run(const SampleResult& result, std::vector<ParameterSummary>& parameters,
                       bool check_only = false);

/// Some parameters of a summary of the same run, sharpened as sharpen_run() would if the Stein
/// check passed. Much cheaper, because that check is not made. The run must have stored draws.
std::vector<ParameterSummary> sharpen_some(const SampleResult& result,
                                           const std::vector<ParameterSummary>& parameters,
                                           const std::vector<std::size_t>& which);

}  // namespace rehmc
