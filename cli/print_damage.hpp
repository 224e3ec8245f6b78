// Warns about damaged files of a run before its other files are read.
#pragma once

#include "rehmc/job/manifest.hpp"

namespace rehmc::cli {

/// Prints one line for every file of the run that is lost or damaged and was not needed.
void print_damage(const RunFolder& folder, const Manifest& manifest);

}  // namespace rehmc::cli
