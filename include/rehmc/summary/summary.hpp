// The summary of a run: every parameter's estimates, plain and recycled, with their error bars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rehmc/estimate/convergence.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/sharpen/sharpen.hpp"

namespace rehmc {

struct ParameterSummary {
  std::string name;         ///< as in Stan programs: theta[1]
  Estimate plain;           ///< from the chain's own draws
  Convergence convergence;  ///< always judged on the plain chain
  /// Means and sds from all states of all trajectories, quantiles from the kept ones; absent if the
  /// run did not recycle.
  std::optional<Estimate> recycled;
  /// By the gradients of the kept states as control variates; or why not.
  std::optional<SharpenedEstimate> sharpened{};
  std::string not_sharpened{};
  /// By how much a quantile may be off because it was taken from bins; empty if from draws.
  std::vector<double> plain_bounds{};
  std::vector<double> recycled_bounds{};
  bool generated = false;  ///< a generated quantity of a Stan program
};

/// One row for every parameter, without estimates.
std::vector<ParameterSummary> unknown_parameters(const SampleResult& result);

std::vector<ParameterSummary> summarise(const SampleResult& result);

}  // namespace rehmc
