// Turns the shared low-rank fit into a metric.
#include "low_rank_estimate.hpp"

#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/low_rank_fit.hpp"

namespace rehmc {

std::shared_ptr<const Metric> low_rank_estimate(const CentredStates& states) {
  const auto numbers = static_cast<std::size_t>(states.x.size());
  if (numbers == 0) return nullptr;
  LowRankFit fit = LowRankFit::of(static_cast<std::size_t>(states.x.cols()),
                                  {states.x.data(), numbers}, {states.g.data(), numbers});
  try {
    return make_low_rank_metric(
        {std::move(fit.scale), std::move(fit.directions), std::move(fit.stretch)});
  } catch (const ConfigError&) {
    return nullptr;
  }
}

}  // namespace rehmc
