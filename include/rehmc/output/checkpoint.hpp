// Checkpoints: bytes with a checksum, the last and the one before, of which one is always good.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc {

/// The name under which the checkpoint before the last one is kept.
std::filesystem::path previous_checkpoint(const std::filesystem::path& path);

/// Makes this the last checkpoint; the one that was last stays as the previous one.
void write_checkpoint(const std::filesystem::path& path, std::string_view content);

/// What is left of a checkpoint.
struct StoredCheckpoint {
  bool found = false;
  std::string content;
  /// What was wrong with the last one, and with the previous one if that was not good either.
  std::vector<std::string> problems;
};

/// The last checkpoint, or the previous one where the last is missing, short or damaged.
StoredCheckpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace rehmc
