// Figure 1 of the paper: one trajectory on the banana, each of its states accepted or rejected.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "rehmc/core/random.hpp"

namespace rehmc::experiments {

struct TrajectoryPoint {
  std::array<double, 2> position;
  std::array<double, 2> momentum;
  bool accepted;  ///< on its own (Nishimura & Dunson 2020, Algorithm 1); the start always is
};

/// What the figure shows: start, momentum and step size are the authors' (a commented-out line of
/// the paper's source). The observation y, which they do not give, and their coins are not known;
/// with y = 1, the coins of this seed reject the same states as theirs, 5 and 18.
struct TrajectoryPlan {
  std::array<double, 2> start{-0.75, -1.25};
  /// Nothing: the momentum that a kernel of the library would draw.
  std::optional<std::array<double, 2>> momentum{{0.1, 1.0}};
  std::size_t steps = 20;
  double step_size = 0.2;
  Address address{203, 0, 0};
};

/// The start and the states of all steps, accepted with the random numbers that a kernel of the
/// library would use. (A kernel gives positions but no momenta, which the figure shows.)
std::vector<TrajectoryPoint> run_trajectory(const TrajectoryPlan& plan = {});

/// trajectory.csv, and banana.csv with the density, relative to its largest value, on a grid.
void write_trajectory(const std::filesystem::path& folder);

}  // namespace rehmc::experiments
