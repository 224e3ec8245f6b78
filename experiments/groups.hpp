// Repetitions in groups; each finished group is stored as a piece and not run again.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "experiments/workshop.hpp"

namespace rehmc::experiments {

/// Repetitions in groups of equal size, which give the Monte Carlo error.
struct Groups {
  std::string name;  ///< of their pieces
  std::size_t count;
  std::size_t each;
};

/// Sums of what `run(density, repetition)` gives, group by group. The engine must have as many
/// chains as repetitions are missing: `make_engine(chains)` makes it. `Sums` has add(Sums), and
/// may have `seconds`, which is set to the time between the ends of groups, all threads working.
template <class Sums, class MakeEngine, class Run>
std::vector<Sums> run_groups(const Workshop& workshop, const Groups& groups,
                             MakeEngine&& make_engine, Run&& run) {
  const auto name = [&](std::size_t group) { return fmt::format("{}-{}", groups.name, group); };
  std::vector<Sums> sums(groups.count);
  std::vector<std::size_t> missing;
  for (std::size_t g = 0; g < groups.count; ++g) {
    if (auto stored = workshop.load<Sums>(name(g))) {
      sums[g] = std::move(*stored);
    } else {
      missing.push_back(g);
    }
  }
  if (missing.empty()) return sums;

  Engine engine = make_engine(missing.size() * groups.each);
  std::vector<std::vector<Sums>> members(groups.count, std::vector<Sums>(groups.each));
  std::vector<std::size_t> left(groups.count, groups.each);
  std::mutex mutex;
  std::atomic<bool> failed = false;
  auto mark = std::chrono::steady_clock::now();
  engine.run(failed, [&](std::size_t job) {
    const std::size_t group = missing[job / groups.each];
    const std::size_t member = job % groups.each;
    Sums one = run(engine.density(job), group * groups.each + member);
    const std::lock_guard lock(mutex);
    members[group][member] = std::move(one);
    if (--left[group] > 0) return;
    // In a fixed order, for the same bits every time.
    for (const Sums& each : members[group]) sums[group].add(each);
    members[group].clear();
    const auto now = std::chrono::steady_clock::now();
    if constexpr (requires { sums[group].seconds; }) {
      sums[group].seconds = std::chrono::duration<double>(now - mark).count();
    }
    mark = now;
    workshop.store(name(group), sums[group]);
  });
  return sums;
}

}  // namespace rehmc::experiments
