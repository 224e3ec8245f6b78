// Thins the draws of a run, but keeps divergent ones.
#include "shown_draws.hpp"

#include <algorithm>

#include "bounds.hpp"

namespace rehmc::report {

namespace {

bool diverged(const ChainRecord& record, std::size_t draw) {
  return draw < record.ending.size() && record.ending[draw] == Ending::diverged;
}

/// The divergent draws that are not among every stride-th draw of the first `chains` chains.
std::vector<ShownDraw> skipped_divergences(const SampleResult& result, std::size_t chains,
                                           std::size_t stride) {
  std::vector<ShownDraw> skipped;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    for (std::size_t i = 0; i < record.size(); ++i) {
      const bool shown = c < chains && i % stride == 0;
      if (!shown && diverged(record, i)) skipped.push_back({c, i, true});
    }
  }
  return skipped;
}

}  // namespace

ShownDraws choose_draws(const SampleResult& result) {
  ShownDraws shown;
  const std::size_t chains = std::min(result.chains.size(), most_chains);
  std::size_t available = 0;
  for (std::size_t c = 0; c < chains; ++c) available += result.chains[c].record.size();
  shown.stride = stride_for(available, most_points);
  for (std::size_t c = 0; c < chains; ++c) {
    const ChainRecord& record = result.chains[c].record;
    for (std::size_t i = 0; i < record.size(); i += shown.stride) {
      shown.draws.push_back({c, i, diverged(record, i)});
    }
  }
  shown.regular = shown.draws.size();
  const auto skipped = skipped_divergences(result, chains, shown.stride);
  const std::size_t skip = stride_for(skipped.size(), most_divergences);
  for (std::size_t i = 0; i < skipped.size(); i += skip) shown.draws.push_back(skipped[i]);
  shown.divergences =
      static_cast<std::size_t>(std::count_if(shown.draws.begin(), shown.draws.end(),
                                             [](const ShownDraw& draw) { return draw.divergent; }));
  return shown;
}

std::size_t total_draws(const SampleResult& result) {
  std::size_t draws = 0;
  for (const ChainResult& chain : result.chains) draws += chain.record.size();
  return draws;
}

std::vector<double> shown_values(const SampleResult& result, const ShownDraws& shown,
                                 std::size_t parameter) {
  std::vector<double> values;
  values.reserve(shown.draws.size());
  for (const ShownDraw& draw : shown.draws) {
    values.push_back(result.chains[draw.chain].record.draw(draw.draw)[parameter]);
  }
  return values;
}

std::vector<double> thinned_values(const SampleResult& result, std::size_t parameter,
                                   std::size_t stride) {
  std::vector<double> values;
  for (const ChainResult& chain : result.chains) {
    for (std::size_t i = 0; i < chain.record.size(); i += stride) {
      values.push_back(chain.record.draw(i)[parameter]);
    }
  }
  return values;
}

}  // namespace rehmc::report
