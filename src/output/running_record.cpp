// Feeds running summaries with transitions.
#include "rehmc/output/running_record.hpp"

#include <cmath>
#include <limits>

namespace rehmc {

void RunningCounts::add(const Transition& transition) {
  ++draws;
  divergences += transition.ending == Ending::diverged;
  depth_limit_hits += transition.ending == Ending::depth_limit;
  const double energy = transition.energy;
  if (draws > 1) energy_changes += (energy - last_energy) * (energy - last_energy);
  last_energy = energy;
  const double difference = energy - mean_energy;
  mean_energy += difference / static_cast<double>(draws);
  energy_squares += difference * (energy - mean_energy);
}

double RunningCounts::ebfmi() const {
  const double ratio = energy_changes / energy_squares;
  return draws < 3 || !std::isfinite(ratio) ? std::numeric_limits<double>::quiet_NaN() : ratio;
}

RunningRecord::RunningRecord(std::span<const double> centre, std::span<const double> scale,
                             bool recycling, bool gradients)
    : summary_(centre, scale, recycling, gradients) {}

void RunningRecord::add(const ReadDraw& draw) {
  counts_.add(*draw.transition);
  summary_.add(draw.values, draw.first, draw.second, draw.kept, draw.transition->mass,
               draw.gradients);
}

}  // namespace rehmc
