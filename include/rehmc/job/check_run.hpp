// Checks a run folder for missing or damaged files.
#pragma once

#include <string>
#include <vector>

#include "rehmc/job/manifest.hpp"
#include "rehmc/output/run_folder.hpp"

namespace rehmc {

struct Finding {
  enum class Kind {
    good,    ///< checked, and fine
    note,    ///< not wrong, but worth knowing: an unfinished run, a previous checkpoint in use
    problem  ///< something is missing, damaged or inconsistent
  };
  Kind kind;
  std::string text;  ///< which file, what was found, what was expected, what to do
};

/// Checks every file of a run. Throws only if the folder is not a run folder, or its manifest is
/// damaged.
std::vector<Finding> check_run(const RunFolder& folder);

/// The problems that check_run() finds, without reading the states files, which whoever loads the
/// run has read; none while a process writes into the folder.
std::vector<std::string> damaged_files(const RunFolder& folder, const Manifest& manifest);

}  // namespace rehmc
