// Diagnostics of the R package posterior that only tests need.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"

namespace rehmc::basic {

/// R-hat of the draws themselves, without ranks (Gelman, Rubin 1992; Gelman et al. 2013).
inline double rhat_basic(Chains chains, bool split = true) {
  const ChainTable table = split ? split_chains(gather(chains)) : gather(chains);
  if (undefined(table.values)) return nan_value;
  const auto n = static_cast<double>(table.iterations);
  std::vector<double> means;
  std::vector<double> variances;
  for (std::size_t c = 0; c < table.chains; ++c) {
    means.push_back(mean_of(table.chain(c)));
    variances.push_back(variance_of(table.chain(c)));
  }
  return std::sqrt((n - 1) / n + variance_of(means) / mean_of(variances));
}

/// ESS of a quantile.
inline double ess_quantile(Chains chains, double probability) {
  const ChainTable table = gather(chains);
  std::vector<double> sorted = table.values;
  std::ranges::sort(sorted);  // if one is NaN, the order does not matter
  EffectiveSize effective_size;
  return ess_quantile_of(table, sorted, probability, effective_size);
}

}  // namespace rehmc::basic
