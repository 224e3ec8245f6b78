// How a trajectory ended, and why.
#pragma once

#include <cstdint>
#include <string_view>

namespace rehmc {

/// Why a trajectory stopped growing.
enum class Ending : std::uint8_t {
  completed,      ///< a path took all its steps
  turned,         ///< the doubled tree turned; its last half is part of the trajectory
  turned_inside,  ///< the last half turned inside itself and was dropped whole
  diverged,       ///< a step diverged; the half (or the rest of the path) was dropped
  depth_limit,    ///< the tree reached its greatest depth without turning
};
/// For readers of stored values.
constexpr Ending greatest(Ending /*of*/) { return Ending::depth_limit; }

constexpr std::string_view describe(Ending ending) noexcept {
  switch (ending) {
    case Ending::completed:
      return "completed";
    case Ending::turned:
      return "turned";
    case Ending::turned_inside:
      return "turned inside the last half";
    case Ending::diverged:
      return "diverged";
    case Ending::depth_limit:
      return "depth limit";
  }
  return "unknown";
}

}  // namespace rehmc
