// The complete summary of a run: parameters, diagnostics and the checks of its gradients.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/summary/diagnostics.hpp"
#include "rehmc/summary/loo_summary.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"
#include "rehmc/summary/warmup_summary.hpp"

namespace rehmc {

struct RunSummary {
  std::vector<ParameterSummary> parameters{};
  Diagnostics diagnostics{};
  Sharpening sharpening{};
  WarmupSummary warmup{};
  std::optional<LooSummary> loo{};  ///< if there are log likelihoods
  std::size_t draws = 0;            ///< per chain, of the shortest
  /// Whether errors are by batch means and quantiles from bins because no draws were stored. Then
  /// R-hat is the classical one, and the ESS of the mean replaces the bulk ESS.
  bool from_chunks = false;
};

/// Cuts all chains to the length of the shortest, as the convergence diagnostics require.
void cut_to_shortest(SampleResult& result);

/// The part of a summary that takes most of its time.
struct RunEstimates {
  std::vector<ParameterSummary> parameters{};
  Sharpening sharpening{};
};

/// Chains must be of equal length. Without `sharpen`, gradients only serve the Stein check.
RunSummary summarise_run(const SampleResult& result, bool sharpen = true);
/// The same, from estimates of the same draws.
RunSummary summarise_run(const SampleResult& result, RunEstimates estimates);

}  // namespace rehmc
