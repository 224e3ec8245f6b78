// Copies transitions into plain arrays.
#include "rehmc/output/chain_record.hpp"

#include <utility>

namespace rehmc {

ChainRecord::ChainRecord(std::vector<double> centre_of_moments, std::size_t expected_draws)
    : centre(std::move(centre_of_moments)) {
  draws.reserve(expected_draws * dimension());
  mean_offset.reserve(expected_draws * dimension());
  mean_square.reserve(expected_draws * dimension());
  for (auto* series :
       {&log_density, &acceptance, &step_size, &energy, &energy_error, &path_length, &mass}) {
    series->reserve(expected_draws);
  }
  depth.reserve(expected_draws);
  leapfrogs.reserve(expected_draws);
  ending.reserve(expected_draws);
  kept_end.reserve(expected_draws);
}

void ChainRecord::add(const Transition& transition) {
  const auto append = [](std::vector<double>& to, std::span<const double> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(draws, transition.state.position);
  log_density.push_back(transition.state.log_density);
  acceptance.push_back(transition.acceptance);
  step_size.push_back(transition.step_size);
  energy.push_back(transition.energy);
  energy_error.push_back(transition.energy_error);
  path_length.push_back(transition.path_length);
  mass.push_back(transition.mass);
  depth.push_back(transition.depth);
  leapfrogs.push_back(transition.leapfrogs);
  ending.push_back(transition.ending);

  append(mean_offset, transition.feature_means.first(dimension()));
  append(mean_square, transition.feature_means.subspan(dimension(), dimension()));
  for (const WeightedState& state : transition.recycled) {
    append(kept, state.state.position);
    kept_weight.push_back(state.weight);
  }
  kept_end.push_back(kept_weight.size());

  if (transition.ending == Ending::diverged) {
    const auto copy = [](std::span<const double> x) { return std::vector(x.begin(), x.end()); };
    const Divergence& divergence = transition.divergence;
    divergences.push_back({size() - 1, copy(divergence.start), copy(divergence.momentum),
                           copy(divergence.end), divergence.fault});
  }
}

}  // namespace rehmc
