// Times several pieces of work in turns, so that a slow moment affects all of them equally.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <vector>

#include "rehmc/core/numerics.hpp"

namespace rehmc::bench {

/// CPU time of this thread: less affected by other programs than the wall clock.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using rehmc::median;

/// Seconds that every arm took in every round. An arm is called once per round, all arms in turn;
/// a first round warms up and is not counted.
inline std::vector<std::vector<double>> interleave(const std::vector<std::function<void()>>& arms,
                                                   std::size_t rounds) {
  std::vector<std::vector<double>> seconds(arms.size());
  for (const auto& arm : arms) arm();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t a = 0; a < arms.size(); ++a) {
      const double begin = cpu_seconds();
      arms[a]();
      seconds[a].push_back(cpu_seconds() - begin);
    }
  }
  return seconds;
}

/// Adds further rounds of the same arms.
inline void append(std::vector<std::vector<double>>& seconds,
                   const std::vector<std::vector<double>>& more) {
  seconds.resize(more.size());
  for (std::size_t a = 0; a < more.size(); ++a) {
    seconds[a].insert(seconds[a].end(), more[a].begin(), more[a].end());
  }
}

/// Median over rounds of f(seconds of each arm in that round).
template <class F>
double median_over_rounds(const std::vector<std::vector<double>>& seconds, F&& f) {
  std::vector<double> values;
  for (std::size_t round = 0; round < seconds.front().size(); ++round) {
    std::vector<double> of_round;
    for (const auto& arm : seconds) of_round.push_back(arm[round]);
    values.push_back(f(of_round));
  }
  return median(std::move(values));
}

}  // namespace rehmc::bench
