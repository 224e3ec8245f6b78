// Generated quantities of another program at the draws of a run.
#pragma once

#include <string>
#include <vector>

#include "rehmc/model/bridge.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc {

struct GeneratedQuantities {
  std::vector<std::string> names;
  std::vector<std::vector<double>> chains;  ///< draw by draw; NaN where the program failed
  std::size_t failures = 0;                 ///< draws for which it failed
};

/// The program must have the parameters of the run, which must all be recorded: DataError
/// otherwise. Its random numbers are those that it would have used in the run.
GeneratedQuantities generate(BridgeDensity& program, const SampleResult& result);

}  // namespace rehmc
