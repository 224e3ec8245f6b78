// Checkpoints: bytes with a checksum. The last two are kept, so that one is always valid.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc {

/// The name under which the checkpoint before the last one is kept.
std::filesystem::path previous_checkpoint(const std::filesystem::path& path);

/// Writes a checkpoint and keeps the last one as the previous one.
void write_checkpoint(const std::filesystem::path& path, std::string_view content);

/// A checkpoint as it was found.
struct StoredCheckpoint {
  bool found = false;
  std::string content;
  /// What was wrong with the last one, and with the previous one if that was not valid either.
  std::vector<std::string> problems;
};

/// The last checkpoint, or the previous one if the last is missing, truncated or damaged.
StoredCheckpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace rehmc
