// Cached folders, filled under another name and then renamed, by one process at a time.
#include "stan/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "rehmc/core/error.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

std::string remedy() {
  return "free some space, or choose another folder with the environment variable XDG_CACHE_HOME";
}

/// Waits for the lock; the system releases it even if this process is killed.
class Lock {
 public:
  explicit Lock(const files::path& path) {
    descriptor_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (descriptor_ < 0) {
      throw CreateError(fmt::format("cannot write the cache folder {}: {}; {}",
                                    path.parent_path().string(), std::strerror(errno), remedy()));
    }
    while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() { close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

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
  const files::path lock_file = target.parent_path() / fmt::format(".{}.lock", name);
  const Lock lock(lock_file);
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
