// The Stein check from running summaries.
#pragma once

#include <cstdint>
#include <span>

#include "rehmc/running/running_summary.hpp"
#include "rehmc/sharpen/sharpened.hpp"

namespace rehmc {

/// With this many draws, chunks have at least 8: shorter ones do not show how slow a chain is.
inline constexpr std::uint64_t fewest_draws_of_running_check = 128;

/// Whether the averages of the first two Stein features of all coordinates are 0, up to their own
/// errors by chunks and neighbours of these; the limit is by Student's t, for a third of their
/// number. Without gradients, and with fewer draws than that in a chain, no features are tested.
/// DataError as above.
SteinCheck running_stein_check(std::span<const RunningSummary* const> chains);

}  // namespace rehmc
