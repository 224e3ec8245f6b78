// Leave-one-out cross-validation of a run that records log likelihoods.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rehmc/estimate/loo.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc {

struct LooSummary {
  std::vector<std::string> names;  ///< of the log likelihoods, one per observation
  Loo loo;
  std::string refused;  ///< why it was not computed; empty if it was
};

/// From the plain draws of these columns, each the log likelihood of one observation.
LooSummary summarise_loo(const SampleResult& result, const std::vector<std::size_t>& columns);

}  // namespace rehmc
