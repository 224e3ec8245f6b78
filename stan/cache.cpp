// Cached folders, filled under another name and then renamed, by one process at a time.
#include "stan/cache.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "rehmc/core/error.hpp"
#include "rehmc/core/file_lock.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

std::string remedy() {
  return "free some space, or choose another folder with the environment variable XDG_CACHE_HOME";
}

/// Makes this folder of the cache for one process at a time.
FileLock lock_for(const files::path& target) {
  try {
    return FileLock::wait(target.parent_path() /
                          fmt::format(".{}.lock", target.filename().string()));
  } catch (const CreateError& error) {
    throw CreateError(fmt::format("{}; {}", error.what(), remedy()));
  }
}

}  // namespace

files::path cache_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // The standard says that a path which is not absolute must be ignored.
  const files::path given = variable("XDG_CACHE_HOME");
  if (given.is_absolute()) return given / "rehmc" / "stan";
  const files::path home = variable("HOME");
  if (home.empty()) {
    throw ConfigError(
        "there is no folder for Stan's toolchains: neither of the environment variables "
        "XDG_CACHE_HOME and HOME is set");
  }
  return home / ".cache" / "rehmc" / "stan";
}

void make_cached(const files::path& target,
                 const std::function<bool(const files::path& folder)>& is_whole,
                 const std::function<void(const files::path& folder)>& fill) {
  std::error_code error;
  files::create_directories(target.parent_path(), error);
  if (error) {
    throw CreateError(fmt::format("cannot create the cache folder {}: {}; {}",
                                  target.parent_path().string(), error.message(), remedy()));
  }
  const std::string name = target.filename().string();
  const FileLock lock = lock_for(target);
  if (files::exists(target) && is_whole(target)) return;
  // A process that was killed here left a folder of this name.
  const files::path unfinished = target.parent_path() / fmt::format(".{}.unfinished", name);
  files::remove_all(unfinished);
  try {
    files::create_directory(unfinished);
    fill(unfinished);
    files::remove_all(target);
    files::rename(unfinished, target);
    sync_folder(target.parent_path());
  } catch (const files::filesystem_error& cause) {
    files::remove_all(unfinished, error);
    throw CreateError(fmt::format("cannot write the cache folder {}: {}; {}", target.string(),
                                  cause.code().message(), remedy()));
  } catch (...) {
    files::remove_all(unfinished, error);
    throw;
  }
}

}  // namespace rehmc::stan
