// Feeds running summaries with transitions.
#include "rehmc/output/running_record.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace rehmc {

namespace {

std::vector<double> chosen(std::span<const double> all, const std::vector<std::size_t>& columns) {
  std::vector<double> some;
  some.reserve(columns.size());
  for (const std::size_t column : columns) some.push_back(all[column]);
  return some;
}

}  // namespace

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
                             std::vector<std::size_t> columns, bool recycling)
    : columns_(std::move(columns)),
      summary_(chosen(centre, columns_), chosen(scale, columns_), recycling) {}

std::span<const double> RunningRecord::recorded(std::span<const double> all,
                                                std::vector<double>& scratch) const {
  if (columns_.size() == all.size()) return all;
  scratch.clear();
  for (const std::size_t column : columns_) scratch.push_back(all[column]);
  return scratch;
}

void RunningRecord::add(const Transition& transition) {
  counts_.add(transition);
  const std::size_t d = transition.state.position.size();
  kept_view_.clear();
  kept_.resize(std::max(kept_.size(), transition.recycled.size()));
  for (std::size_t k = 0; k < transition.recycled.size(); ++k) {
    const WeightedState& state = transition.recycled[k];
    kept_view_.push_back({{recorded(state.state.position, kept_[k]), {}, 0}, state.weight});
  }
  summary_.add(recorded(transition.state.position, position_),
               recorded(transition.feature_means.first(d), offset_),
               recorded(transition.feature_means.subspan(d, d), square_), kept_view_,
               transition.mass);
}

}  // namespace rehmc
