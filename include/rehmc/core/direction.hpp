// The direction in time in which a trajectory grows.
#pragma once

namespace rehmc {

enum class Direction : int { backward = -1, forward = 1 };

}  // namespace rehmc
