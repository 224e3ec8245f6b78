// Prepares the folders of new runs, and removes them.
#include "rehmc/job/create_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "manifest_json.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

namespace files = std::filesystem;

namespace {

/// Whether there is a manifest of ours: other programs have a manifest.json, too.
bool holds_run(const RunFolder& folder) {
  return files::is_regular_file(folder.manifest()) &&
         read_file(folder.manifest()).find(manifest_format) != std::string::npos;
}

/// In a folder without a run. Where a process of rehmc ended before there was a manifest, its lock
/// is left; without it, a model.stan or a chain-1.csv is somebody's own.
bool holds_other_files(const RunFolder& folder) {
  const bool begun = was_locked(folder);
  const files::directory_iterator entries(folder.path());
  return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
    const files::path& path = entry.path();
    if (path == folder.lock() || path == folder.probe()) return false;
    return !begun || path == folder.manifest() || !RunFolder::is_ours(path.filename().string());
  });
}

/// All but the lock, which its holder removes.
void clear_run(const RunFolder& folder) {
  for (const auto& entry : files::directory_iterator(folder.path())) {
    if (entry.path() != folder.lock() && RunFolder::is_ours(entry.path().filename().string())) {
      files::remove(entry.path());
    }
  }
}

/// CreateError unless a new run may use the folder.
void refuse_if_in_use(const RunFolder& folder, bool force) {
  const std::string path = folder.path().string();
  if (!files::is_directory(folder.path())) {
    throw CreateError(fmt::format("{}: is a file, not a folder; choose another --output", path));
  }
  const bool run = holds_run(folder);
  if (!run && holds_other_files(folder)) {
    throw CreateError(fmt::format(
        "{}: exists and holds files that rehmc did not write; choose another --output", path));
  }
  // A run that was killed before it had a manifest contains nothing to protect.
  if (run && !force) {
    throw CreateError(
        fmt::format("{}: already holds a run; choose another --output, continue it (rehmc "
                    "resume {}), or replace it with --force",
                    path, shell_word(path)));
  }
}

/// Detects a folder that cannot be written before sampling, not after it.
void require_writable(const RunFolder& folder) {
  try {
    write_whole(folder.probe(), "");
  } catch (const FileError& cause) {
    throw CreateError(fmt::format("{}: cannot write into this folder ({})", folder.path().string(),
                                  cause.what()));
  }
  files::remove(folder.probe());
}

}  // namespace

RunLock create_run_folder(const RunFolder& folder, bool force) {
  const std::string path = folder.path().string();
  std::error_code error;
  try {
    if (files::exists(folder.path(), error)) {
      refuse_if_in_use(folder, force);
    } else {
      files::create_directories(folder.path(), error);
      if (error) {
        throw CreateError(fmt::format("{}: cannot create this folder: {}; choose another --output",
                                      path, error.message()));
      }
    }
    RunLock lock(folder);
    refuse_if_in_use(folder, force);  // another process may have written into it since
    clear_run(folder);
    require_writable(folder);
    return lock;
  } catch (const files::filesystem_error& cause) {
    throw CreateError(fmt::format("{}: cannot use this folder: {}; choose another --output", path,
                                  cause.code().message()));
  }
}

void remove_run(const RunFolder& folder) {
  clear_run(folder);
  std::error_code not_empty;
  files::remove(folder.lock(), not_empty);
  files::remove(folder.path(), not_empty);
}

files::path create_free_folder(const std::string& name) {
  for (int number = 1;; ++number) {
    files::path path = fmt::format("{}-{}", name, number);
    std::error_code error;
    if (files::create_directory(path, error)) return path;
    if (error && !files::exists(path)) {
      throw CreateError(fmt::format("{}: cannot create this folder: {}; choose one with --output",
                                    path.string(), error.message()));
    }
  }
}

}  // namespace rehmc
