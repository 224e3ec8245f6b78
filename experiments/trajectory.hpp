// Figure 1 of the paper: one trajectory on the banana, each of its states accepted or rejected.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "rehmc/core/random.hpp"

namespace rehmc::experiments {

struct TrajectoryPoint {
  std::array<double, 2> position;
  std::array<double, 2> momentum;
  bool accepted;  ///< on its own (Nishimura & Dunson 2020, Algorithm 1); the start always is
};

/// What the figure shows. Steps are coarse enough that some states are rejected: two, with this
/// seed.
struct TrajectoryPlan {
  std::array<double, 2> start{0.2, -0.95};
  std::size_t steps = 20;
  double step_size = 0.25;
  Address address{24, 0, 0};
};

/// The start and the states of all steps, accepted with the random numbers that a kernel of the
/// library would use. (A kernel gives positions but no momenta, which the figure shows.)
std::vector<TrajectoryPoint> run_trajectory(const TrajectoryPlan& plan = {});

/// trajectory.csv, and banana.csv with the density, relative to its largest value, on a grid.
void write_trajectory(const std::filesystem::path& folder);

}  // namespace rehmc::experiments
