// What a fuzzed reader is: a function of bytes that may throw errors of rehmc, and nothing else.
#pragma once

#include <string_view>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc::fuzz {

struct Reader {
  std::string_view name;
  void (*read)(std::string_view bytes);
};

/// All readers of this program.
inline std::vector<Reader>& readers() {
  static std::vector<Reader> all;
  return all;
}

/// Whether the bytes were accepted; an error of rehmc is a good end, too. Every other exception
/// leaves, and is a bug.
inline bool read_or_refuse(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

struct Registration {
  explicit Registration(const Reader& reader) { readers().push_back(reader); }
};

}  // namespace rehmc::fuzz

/// Opens the body of a reader of `bytes`.
#define REHMC_FUZZ(name)                                                          \
  static void read_##name(std::string_view bytes);                                \
  static const rehmc::fuzz::Registration registered_##name({#name, read_##name}); \
  static void read_##name([[maybe_unused]] std::string_view bytes)
