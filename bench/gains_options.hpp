// What the program that measures gains and error bars was asked to do.
#pragma once

#include <string>
#include <vector>

namespace rehmc::bench {

struct GainsOptions {
  std::string file;  ///< of the results, as JSON; empty: none
  int runs = 0;      ///< at most, per target; 0: as many as usual
  std::string part;  ///< only targets whose label contains it
  int threads = 0;   ///< 0: one per core
  /// Draws per chain at which error bars are judged; "until" for the time at which
  /// `--until "mcse(mean)<=0.02*sd"` stops.
  std::vector<std::string> draws{"100", "250", "1000", "until"};
  bool single = false;  ///< judge draws of another sampler: a single state each
  std::string raw;      ///< CSV of the estimates of all runs; empty: none
};

}  // namespace rehmc::bench
