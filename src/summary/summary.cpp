// Passes the records of all chains to the estimators, one parameter at a time.
#include "rehmc/summary/summary.hpp"

#include <cstddef>

#include "record_series.hpp"
#include "rehmc/core/stan_name.hpp"

namespace rehmc {

namespace {

Estimate recycled_summary(const SampleResult& result, std::size_t parameter,
                          const std::vector<std::vector<std::size_t>>& begins) {
  RecycledDraws draws;
  const CentredMoments moments = centred_moments(result, parameter);
  draws.centre = moments.centre;
  const std::vector<Series> first = series_of(moments.first);
  const std::vector<Series> second = series_of(moments.second);
  draws.first = first;
  draws.second = second;

  const std::vector<Series> values = kept_series(result, parameter);
  std::vector<KeptStates> kept;
  std::vector<Series> mass;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    kept.push_back({values[c], record.kept_weight, begins[c]});
    mass.push_back({record.mass.data(), record.size(), 1});
  }
  draws.kept = kept;
  if (result.kernel.masses_differ()) draws.mass = mass;
  return recycled_estimate(draws);
}

}  // namespace

std::vector<ParameterSummary> unknown_parameters(const SampleResult& result) {
  std::vector<ParameterSummary> rows(result.names.size());
  for (std::size_t p = 0; p < rows.size(); ++p) {
    rows[p].name = stan_name(result.names[p]);
    rows[p].generated = p < result.quantities.size() && result.quantities[p].generated;
  }
  return rows;
}

std::vector<ParameterSummary> summarise(const SampleResult& result) {
  std::vector<std::vector<std::size_t>> begins;
  for (const ChainResult& chain : result.chains) begins.push_back(kept_begins(chain.record));
  std::vector<ParameterSummary> summary = unknown_parameters(result);
  for (std::size_t p = 0; p < result.names.size(); ++p) {
    const std::vector<Series> chains = drawn_series(result, p);
    ParameterSummary& row = summary[p];
    row.plain = plain_estimate(chains);
    row.convergence = convergence(chains);
    if (result.recycles(p)) row.recycled = recycled_summary(result, p, begins);
  }
  return summary;
}

}  // namespace rehmc
