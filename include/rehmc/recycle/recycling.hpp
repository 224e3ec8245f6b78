// The user's choice of what to keep of every trajectory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rehmc {

/// What to keep of a trajectory. Whatever is kept depends on the past through the start of the
/// trajectory alone, eq. (3.1) of Nishimura & Dunson (2020), and each slot by itself leaves the
/// target invariant, eq. (3.2); so averages over all slots of all draws converge by their Theorem
/// 3, eq. (3.3).
enum class RecyclingKind {
  none,         ///< the next state of the chain only
  all,          ///< every state with its weight (Nishimura & Dunson 2020, Algorithm 3)
  spread,       ///< K equally weighted states, evenly spread along the path
  simple,       ///< K states drawn at random (Nishimura & Dunson 2020, Algorithm 2)
  accept_each,  ///< every step accepted or rejected by its own coin (same, Algorithm 1)
  stride,       ///< HMC: the same for K evenly spaced steps only
  recursive,    ///< K states, dealt out from halves to quarters and on (same, Algorithm 6, mended)
};
constexpr RecyclingKind greatest(RecyclingKind /*of*/) { return RecyclingKind::recursive; }

struct Recycling {
  RecyclingKind kind = RecyclingKind::spread;
  std::size_t count = 8;  ///< K, for spread, simple, stride and recursive

  /// Throws ConfigError for a count of 0 or an absurd one where a count is used.
  void check() const;
};

/// "none", "all", "8" (meaning spread), "spread:8", "simple:8", "accept-each", "stride:8",
/// "recursive:8".
Recycling parse_recycling(std::string_view text);
std::string describe(const Recycling& recycling);

}  // namespace rehmc
