// Whether a run folder is whole and sane.
#pragma once

#include <string>
#include <vector>

#include "rehmc/output/run_folder.hpp"

namespace rehmc {

struct Finding {
  enum class Kind {
    good,    ///< looked at, and fine
    note,    ///< not wrong, but worth knowing: an unfinished run, a previous checkpoint in use
    problem  ///< something is lost, damaged, or does not fit
  };
  Kind kind;
  std::string text;  ///< which file, what was found, what was expected, what to do
};

/// Looks at every file of a run. Throws only if the folder is not a run folder at all.
std::vector<Finding> check_run(const RunFolder& folder);

}  // namespace rehmc
