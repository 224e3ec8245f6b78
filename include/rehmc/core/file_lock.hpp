// Locks between processes, which the system releases when their holder ends, however it ends.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace rehmc {

/// An exclusive lock on a file, which is created if need be. Where the file system has no locks, it
/// always succeeds.
class FileLock {
 public:
  /// Waits until nobody else holds it. CreateError if the file cannot be opened.
  static FileLock wait(const std::filesystem::path& path);
  /// Nothing if somebody else holds it. CreateError if the file cannot be opened.
  static std::optional<FileLock> attempt(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  /// Of the open file.
  int descriptor() const { return descriptor_; }

 private:
  explicit FileLock(const std::filesystem::path& path);
  bool lock(int operation) const;

  int descriptor_ = -1;
};

}  // namespace rehmc
