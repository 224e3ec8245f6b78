// POSIX files with fsync and rename.
#include "rehmc/output/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc {

namespace {

/// Links are not followed: in a folder of somebody else, they could lead to any file.
constexpr int creation_flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;

[[noreturn]] void throw_file_error(const std::filesystem::path& path, const char* what) {
  throw FileError(fmt::format("{}: cannot {} it: {}", path.string(), what, std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view text, std::uint64_t offset) {
  while (!text.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? "." : folder;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == EACCES) return;  // a folder that cannot be read can still hold files
    throw_file_error(path, "open");
  }
  // Some file systems cannot sync folders.
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int cause = errno;
  ::close(descriptor);
  errno = cause;
  if (!synced) throw_file_error(path, "sync");
}

void require_replaceable(const std::filesystem::path& path) {
  using std::filesystem::file_type;
  std::error_code error;
  const file_type type = std::filesystem::symlink_status(path, error).type();
  const bool replaceable = type == file_type::not_found || type == file_type::none ||
                           type == file_type::regular || type == file_type::symlink;
  if (replaceable) return;
  throw FileError(fmt::format("{}: cannot write it: it is no ordinary file", path.string()));
}

void write_whole(const std::filesystem::path& path, std::string_view text) {
  write_whole(path, text, {});
}

void write_whole(const std::filesystem::path& path, std::string_view head, std::string_view body) {
  require_replaceable(path);
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  const int descriptor = ::open(temporary.c_str(), creation_flags, 0666);
  if (descriptor < 0) throw_file_error(path, "create");
  const bool written = write_all(descriptor, head, 0) && write_all(descriptor, body, head.size()) &&
                       ::fsync(descriptor) == 0;
  const int cause = errno;
  ::close(descriptor);
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    if (!written) errno = cause;
    const int kept = errno;
    ::unlink(temporary.c_str());
    errno = kept;
    throw_file_error(path, "write");
  }
  sync_folder(path.parent_path());
}

GrowingFile::GrowingFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), creation_flags, 0666);
  if (descriptor_ < 0) fail("create");
}

GrowingFile::GrowingFile(std::filesystem::path path, const FileSeal& seal)
    : path_(std::move(path)) {
  sealer_.leave_out(seal.hole_begin, seal.hole_size);
  read_sealed(path_, seal, [&](std::string_view piece) { sealer_.add(piece); });
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0) fail("open");
  if (::ftruncate(descriptor_, static_cast<off_t>(size())) != 0) {
    const int cause = errno;
    ::close(descriptor_);
    errno = cause;
    fail("truncate");
  }
}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      sealer_(std::move(other.sealer_)),
      waiting_(std::move(other.waiting_)),
      patch_offset_(other.patch_offset_),
      patch_(std::move(other.patch_)),
      closing_(other.closing_) {}

GrowingFile::~GrowingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void GrowingFile::fail(const char* what) const { throw_file_error(path_, what); }

bool GrowingFile::write_at(std::uint64_t offset, std::string_view text) const {
  return write_all(descriptor_, text, offset);
}

void GrowingFile::patch(std::uint64_t offset, std::string text) {
  patch_offset_ = offset;
  patch_ = std::move(text);
}

void GrowingFile::sync_closing(std::string_view closing) {
  sync();
  if (!write_at(size(), closing) || ::fdatasync(descriptor_) != 0) fail("write");
  closing_ = true;
}

void GrowingFile::sync() {
  if (closing_) {
    if (::ftruncate(descriptor_, static_cast<off_t>(size())) != 0) fail("truncate");
    closing_ = false;
  }
  if (waiting_.empty() && patch_.empty()) return;
  if (!write_at(size(), waiting_) || ::fdatasync(descriptor_) != 0) {
    const int cause = errno;
    // New bytes that were partly written would make the file invalid.
    if (::ftruncate(descriptor_, static_cast<off_t>(size())) == 0) ::fdatasync(descriptor_);
    errno = cause;
    fail("write");
  }
  sealer_.add(waiting_);
  waiting_.clear();
  // In place and within a page: no new space is needed.
  if (!patch_.empty() && (!write_at(patch_offset_, patch_) || ::fdatasync(descriptor_) != 0)) {
    fail("write");
  }
  patch_.clear();
}

}  // namespace rehmc
