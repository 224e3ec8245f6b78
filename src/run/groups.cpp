// Which chains form a group, and what a group does at a shared iteration.
#include "rehmc/run/groups.hpp"

#include <algorithm>

#include "rehmc/adapt/warmup_group.hpp"

namespace rehmc {

namespace {

std::vector<ChainRange> cut(const ChainRange& chains, std::size_t size) {
  std::vector<ChainRange> parts;
  for (std::size_t first = chains.first; first < chains.end; first += size) {
    parts.push_back({first, std::min(first + size, chains.end)});
  }
  return parts;
}

}  // namespace

std::vector<ChainRange> groups_of(const ChainRange& chains) {
  return cut(chains, most_chains_of_group);
}

std::vector<ChainRange> ranges_at_once(const SampleSettings& settings, std::size_t at_once) {
  const ChainRange all{0, static_cast<std::size_t>(settings.chains)};
  if (settings.warmup.schedule != WarmupSchedule::pooled) return {all};
  const std::size_t groups = (at_once + most_chains_of_group - 1) / most_chains_of_group;
  return cut(all, groups * most_chains_of_group);
}

bool pool_groups(const ChainRange& chains, const std::function<Chain*(std::size_t)>& chain) {
  bool any = false;
  for (const ChainRange& group : groups_of(chains)) {
    std::vector<Chain*> members;
    for (std::size_t c = group.first; c < group.end; ++c) members.push_back(chain(c));
    if (!std::ranges::all_of(members, [](const Chain* c) { return c && c->waiting(); })) continue;
    std::vector<const PooledWarmup*> warmups;
    for (const Chain* member : members) warmups.push_back(member->pooled());
    const SharedTuning shared = pool(warmups);
    for (Chain* member : members) member->adopt(shared);
    any = true;
  }
  return any;
}

}  // namespace rehmc
