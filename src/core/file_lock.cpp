// Locks by flock(), which a killed process releases. On NFS, Linux makes it a lock of the server.
#include "rehmc/core/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rehmc/core/error.hpp"

namespace rehmc {

FileLock::FileLock(const std::filesystem::path& path)
    :  // Links are not followed: in a folder of somebody else, they could lead to any file.
      descriptor_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (descriptor_ >= 0) return;
  throw CreateError(fmt::format("cannot write into the folder {}: {}", path.parent_path().string(),
                                std::strerror(errno)));
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileLock::lock(int operation) const {
  int result = 0;
  do {
    result = ::flock(descriptor_, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}

FileLock FileLock::wait(const std::filesystem::path& path) {
  FileLock lock(path);
  lock.lock(LOCK_EX);
  return lock;
}

std::optional<FileLock> FileLock::attempt(const std::filesystem::path& path) {
  FileLock lock(path);
  if (!lock.lock(LOCK_EX | LOCK_NB)) return std::nullopt;
  return lock;
}

}  // namespace rehmc
