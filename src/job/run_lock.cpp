// A lock on a file in the folder, which names the process that has it.
#include "rehmc/job/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"

namespace rehmc {

namespace {

/// Whether the lock is on the file that has this name now: its last holder may have removed it.
bool is_current(const FileLock& lock, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(lock.descriptor(), &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

constexpr std::string_view owner_begin = "process ";

std::string owner_in(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::string owner = error || size == 0 || size > 1000 ? "another process" : read_file(path);
  while (owner.ends_with('\n')) owner.pop_back();
  return owner;
}

/// For messages to others; the lock holds without it, for example on a full disk.
void write_owner(const FileLock& lock) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string owner = fmt::format("{}{} on {}\n", owner_begin, ::getpid(), host.data());
  if (::ftruncate(lock.descriptor(), 0) != 0) return;
  [[maybe_unused]] const ssize_t written =
      ::pwrite(lock.descriptor(), owner.data(), owner.size(), 0);
}

FileLock take(const RunFolder& folder) {
  for (;;) {
    std::optional<FileLock> lock = FileLock::attempt(folder.lock());
    if (!lock) {
      throw CreateError(fmt::format(
          "{}: is being written by {}; wait until it ends, or stop it, or choose another folder",
          folder.path().string(), owner_in(folder.lock())));
    }
    if (is_current(*lock, folder.lock())) return std::move(*lock);
  }
}

}  // namespace

RunLock::RunLock(const RunFolder& folder) : path_(folder.lock()), lock_(take(folder)) {
  write_owner(lock_);
}

RunLock::~RunLock() {
  // While it is held, so that nobody else's file is removed.
  if (lock_.descriptor() >= 0) ::unlink(path_.c_str());
}

bool was_locked(const RunFolder& folder) {
  return std::filesystem::is_regular_file(folder.lock()) &&
         owner_in(folder.lock()).starts_with(owner_begin);
}

std::string writer_of(const RunFolder& folder) {
  const int descriptor = ::open(folder.lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  const bool free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  ::close(descriptor);
  return free ? "" : owner_in(folder.lock());
}

}  // namespace rehmc
