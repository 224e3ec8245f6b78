// A hash of contents, by XXH3.
#include "rehmc/core/hash.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // inside AVX-512's header: GCC bug 105593
#include <xxhash.h>
#pragma GCC diagnostic pop

namespace rehmc {

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace rehmc
