// Groups of chains that learn together in warmup.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "rehmc/run/chain.hpp"
#include "rehmc/run/engine.hpp"
#include "rehmc/run/sample_settings.hpp"

namespace rehmc {

/// The groups among these chains: at most most_chains_of_group consecutive numbers each.
std::vector<ChainRange> groups_of(const ChainRange& chains);

/// Chains that must be in memory at the same time: all of a group, and enough to keep an engine
/// busy that runs this many at once.
std::vector<ChainRange> ranges_at_once(const SampleSettings& settings, std::size_t at_once);

/// Lets every group pool whose chains all wait. `chain(c)` is chain c, or nullptr if it has not
/// begun or no longer runs. Returns whether any did: then there is more to do for its chains.
bool pool_groups(const ChainRange& chains, const std::function<Chain*(std::size_t)>& chain);

}  // namespace rehmc
