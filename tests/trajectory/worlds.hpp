// The worlds of the exactness tests: some placed by hand, many at random from fixed seeds.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/trajectory/integers.hpp"

namespace rehmc::exact {

/// An uneven target without ties.
inline World bumpy_world(int size) {
  std::vector<double> log_density;
  for (int i = 0; i < size; ++i) {
    log_density.push_back(2.5 * std::sin(1.7 * i) - 0.02 * (i - 9) * (i - 9) + 0.3 * (i % 3));
  }
  return World(std::move(log_density));
}

/// Worlds in which each kind of ending happens where mistakes are likely.
inline std::vector<World> placed_worlds() {
  const auto turn_all = [](World world, int length) {
    for (int i = 0; i + length <= world.size(); ++i) world.turn_on(i, i + length - 1);
    return world;
  };
  std::vector<World> worlds;
  worlds.emplace_back(std::vector<double>(20, 0.0));  // nothing ever happens
  worlds.push_back(bumpy_world(34));                  // room for whole trees of 16 states
  for (int length = 2; length <= 16; length *= 2)
    worlds.push_back(turn_all(bumpy_world(20), length));
  worlds.push_back(bumpy_world(20).turn_on(9, 10));  // a single turning pair
  worlds.push_back(bumpy_world(20).turn_on(8, 11));  // a single turning segment of four
  worlds.push_back(bumpy_world(20).turn_on(4, 11).turn_on(8, 15));  // overlapping segments of eight
  worlds.push_back(bumpy_world(20).diverge_at(10));                 // a wall in the middle
  worlds.push_back(bumpy_world(20).diverge_at(3).diverge_at(5));    // a state between two walls
  worlds.push_back(bumpy_world(20).diverge_at(6).turn_on(8, 9).turn_on(10, 13).turn_on(3, 4));
  return worlds;
}

/// Worlds with random turning segments and divergent states at several rates.
inline std::vector<World> strewn_worlds(int size, double grain, std::uint64_t count) {
  std::vector<World> worlds;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    WorldPlan plan;
    plan.size = size;
    plan.grain = grain;
    plan.spread = 2 + static_cast<double>(seed % 4);
    plan.turning = 0.06 * static_cast<double>(seed % 5);
    plan.divergent = seed % 3 == 0 ? 0.08 : 0.0;
    worlds.push_back(random_world(plan, 1000 + seed));
  }
  return worlds;
}

}  // namespace rehmc::exact
