// Hands the records of all chains to the estimators, one parameter at a time.
#include "rehmc/run/summary.hpp"

#include <cstddef>

namespace rehmc {

namespace {

/// The per-draw moments of one parameter, about one centre for all chains.
struct CentredMoments {
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;
};

CentredMoments moments_about(double centre, const SampleResult& result, std::size_t parameter) {
  CentredMoments moments;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    const std::size_t d = record.dimension();
    const double shift = record.centre[parameter] - centre;
    auto& first = moments.first.emplace_back(record.size());
    auto& second = moments.second.emplace_back(record.size());
    for (std::size_t i = 0; i < record.size(); ++i) {
      const double offset = record.mean_offset[i * d + parameter];
      first[i] = offset + shift;
      second[i] = record.mean_square[i * d + parameter] + shift * (2 * offset + shift);
    }
  }
  return moments;
}

std::vector<Series> series_of(const std::vector<std::vector<double>>& chains) {
  std::vector<Series> series;
  for (const auto& chain : chains) series.push_back({chain.data(), chain.size(), 1});
  return series;
}

Estimate recycled_summary(const SampleResult& result, std::size_t parameter,
                          const std::vector<std::vector<std::size_t>>& begins) {
  RecycledDraws draws;
  draws.centre = result.chains.front().record.centre[parameter];
  const CentredMoments moments = moments_about(draws.centre, result, parameter);
  const std::vector<Series> first = series_of(moments.first);
  const std::vector<Series> second = series_of(moments.second);
  draws.first = first;
  draws.second = second;

  std::vector<KeptStates> kept;
  std::vector<Series> mass;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    kept.push_back({{record.kept.data() + parameter, record.kept_weight.size(),
                     static_cast<std::ptrdiff_t>(record.dimension())},
                    record.kept_weight,
                    begins[c]});
    mass.push_back({record.mass.data(), record.size(), 1});
  }
  draws.kept = kept;
  const bool masses_differ =
      result.kernel.kind == KernelKind::hmc && result.kernel.hmc.weight_by_steps;
  if (masses_differ) draws.mass = mass;
  return recycled_estimate(draws);
}

}  // namespace

std::vector<ParameterSummary> summarise(const SampleResult& result) {
  std::vector<std::vector<std::size_t>> begins;
  for (const ChainResult& chain : result.chains) {
    auto& of_chain = begins.emplace_back(1, 0);
    of_chain.insert(of_chain.end(), chain.record.kept_end.begin(), chain.record.kept_end.end());
  }
  std::vector<ParameterSummary> summary;
  for (std::size_t p = 0; p < result.names.size(); ++p) {
    std::vector<Series> chains;
    for (const ChainResult& chain : result.chains) {
      chains.push_back({chain.record.draws.data() + p, chain.record.size(),
                        static_cast<std::ptrdiff_t>(chain.record.dimension())});
    }
    ParameterSummary& row = summary.emplace_back();
    row.name = result.names[p];
    row.plain = plain_estimate(chains);
    row.convergence = convergence(chains);
    // What is drawn anew for every draw has no values at the other states.
    const bool generated = p < result.quantities.size() && result.quantities[p].generated;
    if (result.kernel.recycling.kind != RecyclingKind::none && !generated) {
      row.recycled = recycled_summary(result, p, begins);
    }
  }
  return summary;
}

}  // namespace rehmc
