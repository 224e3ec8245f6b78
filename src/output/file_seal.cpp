// Hashes blocks of 256 KiB.
#include "rehmc/output/file_seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"

namespace rehmc {

namespace {

constexpr std::uint64_t block_size = std::uint64_t{1} << 18;

[[noreturn]] void throw_damaged(const std::filesystem::path& path, std::uint64_t begin,
                                std::uint64_t end) {
  throw DataError(fmt::format(
      "{}: was changed after rehmc wrote it: bytes {} to {} do not match their checksum",
      path.string(), begin + 1, end));
}

}  // namespace

void Sealer::leave_out(std::uint64_t begin, std::uint64_t size) {
  seal_.hole_begin = begin;
  seal_.hole_size = size;
}

void Sealer::add(std::string_view bytes) {
  // The hole counts as blanks.
  const std::uint64_t hole_end = seal_.hole_begin + seal_.hole_size;
  while (!bytes.empty()) {
    const bool in_hole = seal_.bytes >= seal_.hole_begin && seal_.bytes < hole_end;
    const std::uint64_t next = in_hole                          ? hole_end
                               : seal_.bytes < seal_.hole_begin ? seal_.hole_begin
                                                                : seal_.bytes + bytes.size();
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), next - seal_.bytes));
    add_hashed(in_hole ? std::string(count, ' ') : bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
}

void Sealer::add_hashed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::uint64_t room = block_size - seal_.bytes % block_size;
    const std::string_view part = bytes.substr(0, static_cast<std::size_t>(room));
    block_.add(part);
    seal_.bytes += part.size();
    if (seal_.bytes % block_size == 0) {
      seal_.blocks.push_back(block_.value());
      block_.clear();
    }
    bytes.remove_prefix(part.size());
  }
}

FileSeal Sealer::seal() const {
  FileSeal seal = seal_;
  if (seal.bytes % block_size != 0) seal.blocks.push_back(block_.value());
  return seal;
}

void read_sealed(const std::filesystem::path& path, const FileSeal& seal,
                 const std::function<void(std::string_view piece)>& take) {
  if (seal.bytes == 0) return;
  Sealer found;
  found.leave_out(seal.hole_begin, seal.hole_size);
  std::uint64_t size = 0;
  read_pieces(path, [&](std::string_view piece) {
    size += piece.size();
    piece = piece.substr(0, static_cast<std::size_t>(
                                std::min<std::uint64_t>(piece.size(), seal.bytes - found.bytes())));
    if (piece.empty()) return;
    take(piece);
    found.add(piece);
  });
  if (size < seal.bytes) {
    throw DataError(
        fmt::format("{}: has {} bytes, but the checkpoint records {}; part of it was lost",
                    path.string(), size, seal.bytes));
  }
  const std::vector<std::uint64_t> blocks = found.seal().blocks;
  const auto [ours, theirs] = std::ranges::mismatch(blocks, seal.blocks);
  if (ours == blocks.end() && theirs == seal.blocks.end()) return;
  const auto block = static_cast<std::uint64_t>(ours - blocks.begin());
  throw_damaged(path, block * block_size, std::min(seal.bytes, (block + 1) * block_size));
}

}  // namespace rehmc
