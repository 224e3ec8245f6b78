// What a group of chains concludes at a shared iteration of warmup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rehmc/adapt/pooled_warmup.hpp"

namespace rehmc {

/// What the chains of a group agree on when all of them wait: the metric that maps gradients of
/// other chains onto states best, one step size, and whether warmup can end. The chains in the
/// order of their numbers, which alone decides the order of sums.
SharedTuning pool(std::span<const PooledWarmup* const> chains);

}  // namespace rehmc
