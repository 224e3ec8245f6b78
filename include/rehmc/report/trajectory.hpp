// One trajectory in two coordinates, for a picture.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/output/run_folder.hpp"

namespace rehmc {

/// A state of the trajectory that the report draws: its first two coordinates.
struct TracedState {
  double x = 0;
  double y = 0;
  double weight = 0;      ///< within the trajectory; 0 for states of a half that was dropped
  int slots = 0;          ///< how often recycling kept it
  bool dropped = false;   ///< belongs to a half that turned or diverged inside
  bool selected = false;  ///< the next state of the chain
};

/// One trajectory in path order; `start` is the index of the state it began at.
struct TracedTrajectory {
  std::vector<TracedState> states;
  std::size_t start = 0;
};

/// One transition from a state, with all the states it visits.
TracedTrajectory trace_trajectory(const Density& density, const KernelSettings& settings,
                                  const Tuning& tuning, const Address& address,
                                  std::span<const double> position);
void write_trajectory(const RunFolder& folder, const TracedTrajectory& trajectory);
/// Empty if there is none.
TracedTrajectory read_trajectory(const RunFolder& folder);

}  // namespace rehmc
