// Takes an even sample of the states of a trajectory.
#include "rehmc/adapt/state_sample.hpp"

#include <algorithm>

namespace rehmc {

void StateSample::add(const Transition& transition, std::size_t most) {
  std::vector<const VisitedState*> weighted;
  for (const VisitedState& visit : transition.visited) {
    if (visit.weight > 0) weighted.push_back(&visit);
  }
  const std::size_t count = std::min(weighted.size(), most);
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) total += weighted[i * weighted.size() / count]->weight;
  for (std::size_t i = 0; i < count; ++i) {
    const VisitedState& visit = *weighted[i * weighted.size() / count];
    const StateView& state = visit.state;
    positions.insert(positions.end(), state.position.begin(), state.position.end());
    gradients.insert(gradients.end(), state.gradient.begin(), state.gradient.end());
    weights.push_back(visit.weight / total);
  }
  dimension = transition.state.position.size();
  ++draws;
}

void StateSample::append(const StateSample& other) {
  positions.insert(positions.end(), other.positions.begin(), other.positions.end());
  gradients.insert(gradients.end(), other.gradients.begin(), other.gradients.end());
  weights.insert(weights.end(), other.weights.begin(), other.weights.end());
  draws += other.draws;
  dimension = other.dimension;
}

}  // namespace rehmc
