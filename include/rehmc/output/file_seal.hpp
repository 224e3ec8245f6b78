// Checksums of files that grow, block by block, so that damage is noticed and located.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "rehmc/core/hash.hpp"

namespace rehmc {

/// The checksums of the first bytes of a file; a part of a checkpoint.
struct FileSeal {
  std::uint64_t bytes = 0;
  std::uint64_t hole_begin = 0;  ///< the bytes that change in place have no checksum
  std::uint64_t hole_size = 0;
  std::vector<std::uint64_t> blocks;  ///< one for each block; the last one may be shorter

  template <class Archive>
  void archive(Archive& archive) {
    archive(bytes, hole_begin, hole_size, blocks);
  }
};

/// Computes the seal of bytes that arrive in pieces.
class Sealer {
 public:
  Sealer() = default;
  /// These bytes will change in place; call it before they are added.
  void leave_out(std::uint64_t begin, std::uint64_t size);
  void add(std::string_view bytes);
  FileSeal seal() const;
  std::uint64_t bytes() const { return seal_.bytes; }

 private:
  void add_hashed(std::string_view bytes);

  FileSeal seal_;  ///< its last block is missing while it is not full
  StreamedHash block_;
};

/// Reads the sealed bytes of a file, passes them on in pieces, and compares them with their seal;
/// if this throws, the pieces must not be used. DataError if the file is shorter than its seal or
/// was changed, NoInputError if it cannot be read; the message names the file and what is wrong.
void read_sealed(const std::filesystem::path& path, const FileSeal& seal,
                 const std::function<void(std::string_view piece)>& take);

}  // namespace rehmc
