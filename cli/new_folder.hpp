// A folder for the results of one command: it is complete, or does not exist.
#pragma once

#include <filesystem>

namespace rehmc::cli {

class NewFolder {
 public:
  /// CreateError if there is something of this name.
  static void require_free(const std::filesystem::path& path);
  /// Likewise.
  explicit NewFolder(std::filesystem::path path);
  /// Unless it was kept, removes the folder with what the command has written into it.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// All files are written.
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

}  // namespace rehmc::cli
