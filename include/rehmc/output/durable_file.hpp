// Files that survive crashes: whole ones that appear at once, growing ones that are whole at syncs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rehmc {

/// Writes a file that is there entirely or not at all, whatever happens meanwhile: under a
/// temporary name, which is renamed after the bytes are on the disk. FileError names the cause.
void write_whole(const std::filesystem::path& path, std::string_view text);
/// The same for a text in two parts, without joining them first.
void write_whole(const std::filesystem::path& path, std::string_view head, std::string_view body);

/// Makes sure that a renamed or new file in this folder is still there after a crash.
void sync_folder(const std::filesystem::path& folder);

/// A file that grows. What is appended waits in memory until sync(), so that the file on the disk
/// is always as it was at some sync. A sync that fails (a full disk) leaves the file as the last
/// one did.
class GrowingFile {
 public:
  /// A new, empty file; one that is there already is emptied.
  explicit GrowingFile(std::filesystem::path path);
  /// Goes on behind the first `bytes` of an existing file and forgets the rest; FileError if it is
  /// shorter.
  GrowingFile(std::filesystem::path path, std::uint64_t bytes);
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;
  ~GrowingFile();

  /// Append here.
  std::string& waiting() { return waiting_; }
  const std::string& waiting() const { return waiting_; }
  /// Overwrites bytes that an earlier sync wrote, with the next sync.
  void patch(std::uint64_t offset, std::string text);
  void sync();
  /// Writes the end of a file that may still grow: whatever is appended later replaces it.
  void sync_closing(std::string_view closing);
  /// Bytes up to the last sync.
  std::uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  bool write_at(std::uint64_t offset, std::string_view text) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string waiting_;
  std::uint64_t patch_offset_ = 0;
  std::string patch_;
  bool closing_ = false;  ///< the file has an end that the next sync cuts off
};

}  // namespace rehmc
