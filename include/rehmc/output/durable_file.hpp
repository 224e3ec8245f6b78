// Files that survive crashes: written atomically, or appended to and synced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "rehmc/output/file_seal.hpp"

namespace rehmc {

/// FileError if there is a device, a pipe or a folder of this name: renaming would replace it.
void require_replaceable(const std::filesystem::path& path);

/// Writes a file atomically: after a crash it is complete or does not exist. It is written under a
/// temporary name and renamed when the bytes are on the disk. FileError names the cause.
void write_whole(const std::filesystem::path& path, std::string_view text);
/// The same for a text in two parts, without joining them first.
void write_whole(const std::filesystem::path& path, std::string_view head, std::string_view body);

/// Makes sure that a renamed or new file in this folder survives a crash; FileError if that failed.
void sync_folder(const std::filesystem::path& folder);

/// A file that grows. What is appended waits in memory until sync(), so that the file on the disk
/// is always as it was at some sync. A sync that fails (a full disk) leaves the file as the last
/// one did.
class GrowingFile {
 public:
  /// A new, empty file; an existing one is emptied.
  explicit GrowingFile(std::filesystem::path path);
  /// Continues after the sealed bytes of an existing file and discards the rest. Throws as
  /// read_sealed() does, and then leaves the file as it is.
  GrowingFile(std::filesystem::path path, const FileSeal& seal);
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;
  ~GrowingFile();

  /// Append here.
  std::string& waiting() { return waiting_; }
  const std::string& waiting() const { return waiting_; }
  /// Names bytes that patch() will overwrite; call it before they are written.
  void will_patch(std::uint64_t offset, std::uint64_t size) { sealer_.leave_out(offset, size); }
  /// Overwrites bytes that an earlier sync wrote, with the next sync.
  void patch(std::uint64_t offset, std::string text);
  void sync();
  /// Writes an ending to a file that may still grow: what is appended later replaces it.
  void sync_closing(std::string_view closing);
  /// Bytes up to the last sync.
  std::uint64_t size() const { return sealer_.bytes(); }
  /// The checksums of these bytes.
  FileSeal seal() const { return sealer_.seal(); }

 private:
  [[noreturn]] void fail(const char* what) const;
  bool write_at(std::uint64_t offset, std::string_view text) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  Sealer sealer_;  ///< of the bytes up to the last sync
  std::string waiting_;
  std::uint64_t patch_offset_ = 0;
  std::string patch_;
  bool closing_ = false;  ///< the file has an ending that the next sync removes
};

}  // namespace rehmc
