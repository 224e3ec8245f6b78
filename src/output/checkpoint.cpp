// A checkpoint file: a line that names the format, length, 128-bit checksum, content.
#include "rehmc/output/checkpoint.hpp"
#include "rehmc/core/files.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

namespace {

constexpr std::string_view format_line = "rehmc checkpoint 3\n";

/// Length and checksum.
struct Seal {
  std::uint64_t size = 0;
  std::string hash;
  template <class Archive>
  void archive(Archive& archive) {
    archive(size, hash);
  }
};

Seal seal_of(std::string_view content) { return {content.size(), content_hash(content)}; }

/// The content of a valid checkpoint; otherwise sets `problem`.
std::optional<std::string> open_sealed(const std::filesystem::path& path, std::string& problem) {
  if (!std::filesystem::exists(path)) {
    problem = fmt::format("{}: is missing", path.string());
    return std::nullopt;
  }
  const std::string bytes = read_file(path);
  if (bytes.empty()) {
    problem = fmt::format("{}: is empty", path.string());
    return std::nullopt;
  }
  if (!bytes.starts_with(format_line)) {
    problem = fmt::format("{}: is not a checkpoint of this version of rehmc", path.string());
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(bytes).substr(format_line.size());
  ArchiveReader reader(rest);
  Seal seal;
  try {
    reader(seal);
  } catch (const DataError&) {
    problem = fmt::format("{}: is truncated", path.string());
    return std::nullopt;
  }
  const std::string_view content = rest.substr(rest.size() - reader.left());
  if (content.size() != seal.size) {
    problem =
        fmt::format("{}: is truncated ({} of {} bytes)", path.string(), content.size(), seal.size);
    return std::nullopt;
  }
  if (content_hash(content) != seal.hash) {
    problem = fmt::format("{}: is damaged (its checksum does not match)", path.string());
    return std::nullopt;
  }
  return std::string(content);
}

}  // namespace

std::filesystem::path previous_checkpoint(const std::filesystem::path& path) {
  std::filesystem::path previous = path;
  previous.replace_filename(path.stem().string() + "-previous" + path.extension().string());
  return previous;
}

void write_checkpoint(const std::filesystem::path& path, std::string_view content) {
  ArchiveWriter seal;
  seal(seal_of(content));
  // The last one becomes the previous one by a second link, so that one of them exists at all
  // times.
  const std::filesystem::path previous = previous_checkpoint(path);
  if (std::filesystem::exists(path)) {
    std::filesystem::path link = previous;
    link += ".tmp";
    std::error_code ignored;  // without links, there is only the last one
    std::filesystem::remove(link, ignored);
    std::filesystem::create_hard_link(path, link, ignored);
    if (!ignored) std::filesystem::rename(link, previous, ignored);
  }
  write_whole(path, std::string(format_line) + seal.bytes(), content);
}

StoredCheckpoint read_checkpoint(const std::filesystem::path& path) {
  StoredCheckpoint stored;
  for (const auto& file : {path, previous_checkpoint(path)}) {
    std::string problem;
    if (auto content = open_sealed(file, problem)) {
      stored.found = true;
      stored.content = std::move(*content);
      return stored;
    }
    stored.problems.push_back(std::move(problem));
  }
  return stored;
}

}  // namespace rehmc
