// The parameters that the page lists and plots: the first, the worst, those near divergences.
#pragma once

#include <cstddef>
#include <vector>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/summary/summary.hpp"
#include "shown_draws.hpp"

namespace rehmc::report {

struct ShownParameters {
  std::vector<std::size_t> rows;     ///< of the table, in order
  std::vector<std::size_t> plotted;  ///< a subset of them, in order
  std::vector<std::size_t> pair;     ///< the pairs plot's first choice; empty for one parameter
};

ShownParameters choose_parameters(const SampleResult& result,
                                  const std::vector<ParameterSummary>& summary,
                                  const ShownDraws& draws);

}  // namespace rehmc::report
