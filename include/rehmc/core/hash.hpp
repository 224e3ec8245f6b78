// Hashes of contents, which identify models and files, and reveal damage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace rehmc {

/// XXH3 with 128 bits, as 32 hexadecimal digits: the same on every machine. Not cryptographic.
std::string content_hash(std::string_view bytes);

/// The same of a file, read in pieces. NoInputError if it cannot be read.
std::string file_hash(const std::filesystem::path& path);

/// XXH3 with 64 bits of bytes that arrive in pieces.
class StreamedHash {
 public:
  StreamedHash();
  void add(std::string_view bytes);
  /// Of everything added so far; more may follow.
  std::uint64_t value() const;
  /// Begins again.
  void clear();

 private:
  struct Free {
    void operator()(void* state) const;
  };
  std::unique_ptr<void, Free> state_;
};

}  // namespace rehmc
