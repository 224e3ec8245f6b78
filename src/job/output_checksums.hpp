// The checksums of the files that are written when a run ends.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rehmc/output/run_folder.hpp"

namespace rehmc {

/// Checksums by file name.
using Checksums = std::map<std::string, std::string>;

/// The stored checksums; none if they are missing. DataError if they cannot be read.
Checksums read_checksums(const RunFolder& folder);

/// Replaces files that have checksums: those are forgotten before the first file changes, and
/// written again after the last one. So checksums never disagree with healthy files, whenever a
/// process is killed.
class ChecksumUpdate {
 public:
  /// Keeps the checksums of files that will not change.
  explicit ChecksumUpdate(const RunFolder& folder);
  /// To be called when these files, as far as they exist, are complete.
  void finish(const std::vector<std::filesystem::path>& changed);

 private:
  const RunFolder& folder_;
  Checksums checksums_;
};

}  // namespace rehmc
