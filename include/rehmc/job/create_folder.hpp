// The folders of new runs: created without touching anything that is not ours, and removed.
#pragma once

#include <filesystem>
#include <string>

#include "rehmc/job/run_lock.hpp"
#include "rehmc/output/run_folder.hpp"

namespace rehmc {

/// Creates the folder of a new run and locks it. An existing folder is used only if it is empty;
/// with `force` also if it holds a run that nobody is writing, whose files are then removed.
/// CreateError names the obstacle.
RunLock create_run_folder(const RunFolder& folder, bool force);

/// Removes the files of a run, and the folder if nothing else is in it.
void remove_run(const RunFolder& folder);

/// Creates the first of NAME-1, NAME-2, ... that does not exist yet. CreateError if that fails.
std::filesystem::path create_free_folder(const std::string& name);

}  // namespace rehmc
