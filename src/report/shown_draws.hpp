// The draws of a run that the page shows, and reading the draws of one parameter.
#pragma once

#include <cstddef>
#include <vector>

#include "rehmc/output/sample_result.hpp"

namespace rehmc::report {

struct ShownDraw {
  std::size_t chain = 0;
  std::size_t draw = 0;
  bool divergent = false;
};

/// The draws in trace and pairs plots: every stride-th draw of each chain, then divergent draws
/// that this skipped.
struct ShownDraws {
  std::vector<ShownDraw> draws;
  std::size_t regular = 0;  ///< how many are every stride-th draw of a chain
  std::size_t stride = 1;
  std::size_t divergences = 0;  ///< among `draws`
};

ShownDraws choose_draws(const SampleResult& result);

std::size_t total_draws(const SampleResult& result);

/// The value of a parameter in every shown draw.
std::vector<double> shown_values(const SampleResult& result, const ShownDraws& shown,
                                 std::size_t parameter);

/// Every stride-th draw of one parameter, chain after chain.
std::vector<double> thinned_values(const SampleResult& result, std::size_t parameter,
                                   std::size_t stride);

}  // namespace rehmc::report
