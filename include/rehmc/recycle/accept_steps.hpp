// Recycling of an HMC path by accepting or rejecting its steps one by one.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/recycle/kept.hpp"
#include "rehmc/recycle/recycling.hpp"
#include "rehmc/trajectory/path.hpp"

namespace rehmc {

/// Whether recycling looks at step k of a path of `steps` by itself: accept_each at all of them,
/// stride at the K steps ceil(j steps / K), j = 1 ... K, the last of which is the end of the path.
constexpr bool is_recycled_step(const Recycling& recycling, std::uint64_t k, std::uint64_t steps) {
  switch (recycling.kind) {
    case RecyclingKind::accept_each:
      return true;
    case RecyclingKind::stride: {
      const std::uint64_t count = recycling.count;
      // k count / steps, rounded down, is more than for k - 1.
      return count >= steps || k * count % steps < count;
    }
    default:
      return false;
  }
}

/// The coins of a path: that of the chain for its end, and those of recycling for all other steps.
template <class Random = Stream>
struct PathCoins {
  double end;
  Random others;
};

/// Accepts or rejects each step of a path that recycling looks at; appends what is kept, one
/// reference each, to `accepted`. A rejected step contributes a copy of the start, it is not left
/// out (Nishimura & Dunson (2020), Algorithm 1, step 3), and the end of the path is decided by the
/// coin that moves the chain.
template <SharedStates States, class Random = Stream>
class AcceptSteps {
 public:
  using Handle = typename States::Handle;

  AcceptSteps(States& states, std::vector<Handle>& accepted, const Recycling& recycling,
              const Path<Handle>& path, PathCoins<Random> coins)
      : states_(states),
        accepted_(accepted),
        recycling_(recycling),
        path_(path),
        coins_(std::move(coins)) {}

  void operator()(std::uint64_t k, Handle state, double acceptance) {
    if (!is_recycled_step(recycling_, k, path_.steps)) return;
    const bool accept =
        k == path_.steps ? coins_.end < acceptance : coins_.others.chance(acceptance);
    // Looked up: compilers make a branch of a choice, and this one cannot be predicted.
    const Handle kept = std::array{path_.start, state}[accept];
    states_.retain(kept);
    accepted_.push_back(kept);
  }

 private:
  States& states_;
  std::vector<Handle>& accepted_;
  Recycling recycling_;
  Path<Handle> path_;
  PathCoins<Random> coins_;
};

}  // namespace rehmc
