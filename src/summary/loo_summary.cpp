// Checks that there is one finite log likelihood per observation, and hands them on.
#include "rehmc/summary/loo_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record_series.hpp"
#include "rehmc/core/stan_name.hpp"

namespace rehmc {

namespace {

bool all_finite(const std::vector<Series>& chains) {
  for (const Series& chain : chains) {
    for (std::size_t i = 0; i < chain.size; ++i) {
      if (!std::isfinite(chain[i])) return false;
    }
  }
  return true;
}

}  // namespace

LooSummary summarise_loo(const SampleResult& result, const std::vector<std::size_t>& columns) {
  LooSummary summary;
  for (const std::size_t column : columns) summary.names.push_back(stan_name(result.names[column]));
  if (columns.size() < 2) {
    summary.refused = fmt::format(
        "{} is a single number; leave-one-out needs one log likelihood for every observation, as "
        "in vector[N] log_lik",
        summary.names.front());
    return summary;
  }
  constexpr std::size_t fewest_draws = 25;
  const std::size_t draws = result.chains.size() * result.chains.front().record.size();
  if (draws < fewest_draws) {
    summary.refused = fmt::format("there are {} draws, fewer than {}", draws, fewest_draws);
    return summary;
  }
  std::vector<std::vector<Series>> observations;
  for (const std::size_t column : columns) {
    observations.push_back(drawn_series(result, column));
    if (all_finite(observations.back())) continue;
    summary.refused =
        fmt::format("{} is not finite in some draws", stan_name(result.names[column]));
    return summary;
  }
  summary.loo = leave_one_out(observations);
  return summary;
}

}  // namespace rehmc
