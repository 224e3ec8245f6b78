// Fuzzes the patterns of --save and --drop.
//
// Lines are patterns; those after an empty one are of --drop.
#include <string>

#include "lines.hpp"
#include "reader.hpp"
#include "rehmc/job/run_settings.hpp"

REHMC_FUZZ(save) {
  rehmc::RunSettings settings;
  auto* patterns = &settings.save;
  for (const std::string& line : rehmc::fuzz::lines_of(bytes)) {
    if (line.empty()) {
      patterns = &settings.drop;
    } else {
      patterns->push_back(line);
    }
  }
  rehmc::recorded_columns({"mu", "tau", "theta.1", "theta.2", "theta.10", "L.1.1", "L.2.1", ""},
                          settings);
}
