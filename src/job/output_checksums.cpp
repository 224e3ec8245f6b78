// Lines of a checksum and a file name, as xxhsum -H2 writes and checks them.
#include "output_checksums.hpp"

#include <fmt/format.h>

#include <sstream>
#include <system_error>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

Checksums read_checksums(const RunFolder& folder) {
  Checksums checksums;
  if (!std::filesystem::exists(folder.checksums())) return checksums;
  std::istringstream lines(read_file(folder.checksums()));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blanks = line.find("  ");
    if (blanks != content_hash("").size()) {
      throw DataError(fmt::format("{}: is damaged: '{}' is not a checksum and a name",
                                  folder.checksums().string(), line));
    }
    checksums[line.substr(blanks + 2)] = line.substr(0, blanks);
  }
  return checksums;
}

ChecksumUpdate::ChecksumUpdate(const RunFolder& folder) : folder_(folder) {
  try {
    checksums_ = read_checksums(folder);
  } catch (const DataError&) {
    checksums_.clear();
  }
  std::error_code error;
  std::filesystem::remove(folder.checksums(), error);
  if (error) {
    throw FileError(
        fmt::format("{}: cannot remove it: {}", folder.checksums().string(), error.message()));
  }
  sync_folder(folder.path());
}

void ChecksumUpdate::finish(const std::vector<std::filesystem::path>& changed) {
  for (const std::filesystem::path& path : changed) {
    const std::string name = path.filename().string();
    checksums_.erase(name);
    if (std::filesystem::exists(path)) checksums_[name] = file_hash(path);
  }
  std::string text;
  for (const auto& [name, checksum] : checksums_) text += fmt::format("{}  {}\n", checksum, name);
  write_whole(folder_.checksums(), text);
}

}  // namespace rehmc
