// The user's choice of what to keep of every trajectory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rehmc {

enum class RecyclingKind {
  none,         ///< the next state of the chain only
  all,          ///< every state with its weight (Rao-Blackwellized, Algorithm 4)
  spread,       ///< K equally weighted states, evenly spread along the path (appendix C, corrected)
  simple,       ///< K states drawn at random (Algorithm 3)
  accept_each,  ///< HMC: every step accepted or rejected by its own coin (Algorithm 1)
  stride,       ///< HMC: the same for K evenly spaced steps only
};

struct Recycling {
  RecyclingKind kind = RecyclingKind::spread;
  std::size_t count = 8;  ///< K, for spread, simple and stride

  /// Throws ConfigError for a count of 0 or an absurd one where a count is used.
  void check() const;
};

/// "none", "all", "8" (meaning spread), "spread:8", "simple:8", "accept-each", "stride:8".
Recycling parse_recycling(std::string_view text);
std::string describe(const Recycling& recycling);

}  // namespace rehmc
