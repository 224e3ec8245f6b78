// Hashes of contents, by XXH3.
#include "rehmc/core/hash.hpp"

#include <fmt/format.h>

#include <new>

#include "rehmc/core/files.hpp"

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // inside AVX-512's header: GCC bug 105593
#include <xxhash.h>
#pragma GCC diagnostic pop

namespace rehmc {

namespace {

std::string digits(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using State = std::unique_ptr<XXH3_state_t, FreeState>;

State new_state() {
  State state(XXH3_createState());
  if (!state) throw std::bad_alloc();
  return state;
}

XXH3_state_t* state_of(void* state) { return static_cast<XXH3_state_t*>(state); }

}  // namespace

std::string content_hash(std::string_view bytes) {
  return digits(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string file_hash(const std::filesystem::path& path) {
  const State state = new_state();
  XXH3_128bits_reset(state.get());
  read_pieces(path, [&](std::string_view piece) {
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
  });
  return digits(XXH3_128bits_digest(state.get()));
}

StreamedHash::StreamedHash() : state_(new_state().release()) { clear(); }

void StreamedHash::add(std::string_view bytes) {
  XXH3_64bits_update(state_of(state_.get()), bytes.data(), bytes.size());
}

std::uint64_t StreamedHash::value() const { return XXH3_64bits_digest(state_of(state_.get())); }

void StreamedHash::clear() { XXH3_64bits_reset(state_of(state_.get())); }

void StreamedHash::Free::operator()(void* state) const { XXH3_freeState(state_of(state)); }

}  // namespace rehmc
