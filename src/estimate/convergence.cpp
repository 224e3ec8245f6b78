// R-hat, effective sample sizes and Monte Carlo standard errors of plain draws.
#include "rehmc/estimate/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/checks.hpp"
#include "rehmc/estimate/distributions.hpp"

namespace rehmc {

namespace {

/// All draws in increasing order; none if one of them is NaN, which cannot be ordered.
std::vector<double> sorted_values(const ChainTable& table) {
  std::vector<double> sorted = table.values;
  if (std::any_of(sorted.begin(), sorted.end(), [](double x) { return std::isnan(x); })) return {};
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// Ranks over all chains, ties sharing their mean rank, mapped to normal scores with Blom's offset
/// 3/8 (Vehtari et al. 2021, section 4). One NaN makes all scores NaN, because there are no ranks.
ChainTable rank_normalised(ChainTable table) {
  struct Place {
    double value;
    std::uint32_t index;
  };
  const std::size_t size = table.values.size();
  std::vector<Place> places(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (std::isnan(table.values[i])) {
      std::fill(table.values.begin(), table.values.end(), nan_value);
      return table;
    }
    places[i] = {table.values[i], static_cast<std::uint32_t>(i)};
  }
  std::sort(places.begin(), places.end(), [](Place a, Place b) { return a.value < b.value; });
  const double scale = static_cast<double>(size) + 0.25;
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    while (end < size && places[end].value == places[begin].value) ++end;
    const double rank = (static_cast<double>(begin + end) + 1) / 2;
    const double score = normal_quantile((rank - 0.375) / scale);
    for (std::size_t i = begin; i < end; ++i) table.values[places[i].index] = score;
  }
  return table;
}

/// Distances from the median; their R-hat detects chains that differ in spread.
ChainTable folded(const ChainTable& table, std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  double median = nan_value;
  if (!sorted.empty()) {
    // Not the quantile of type 7, whose rounding would break the tie between the two middle draws.
    median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  return transformed(table, [median](double x) { return std::abs(x - median); });
}

/// Vehtari et al. (2021), section 3: variances within and between the chains.
double rhat_of(const ChainTable& table) {
  if (undefined(table.values)) return nan_value;
  const auto n = static_cast<double>(table.iterations);
  std::vector<double> means(table.chains);
  std::vector<double> variances(table.chains);
  for (std::size_t c = 0; c < table.chains; ++c) {
    means[c] = mean_of(table.chain(c));
    variances[c] = squares_about(table.chain(c), means[c]) / (n - 1);
  }
  const double between = n * variance_of(means);
  const double within = mean_of(variances);
  return std::sqrt((between / within + n - 1) / n);
}

/// As std::max and std::min, but NaN if either is.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

double rhat_of(const ChainTable& table, std::span<const double> sorted, const ChainTable& scores) {
  return larger(rhat_of(scores), rhat_of(rank_normalised(split_chains(folded(table, sorted)))));
}

double ess_tail_of(const ChainTable& table, std::span<const double> sorted,
                   EffectiveSize& effective_size) {
  return smaller(ess_quantile_of(table, sorted, 0.05, effective_size),
                 ess_quantile_of(table, sorted, 0.95, effective_size));
}

}  // namespace

double ess_sd_of(const ChainTable& table, EffectiveSize& effective_size) {
  const double mean = mean_of(table.values);
  return effective_size.of_split(
      transformed(table, [mean](double x) { return std::abs(x - mean); }));
}

double mcse_sd_of(const ChainTable& table, EffectiveSize& effective_size) {
  const double mean = mean_of(table.values);
  const auto squares = transformed(table, [mean](double x) { return (x - mean) * (x - mean); });
  // The delta method: Var(sd) = Var(variance) / (4 variance).
  const double variance = mean_of(squares.values);
  const double spread =
      squares_about(squares.values, variance) / static_cast<double>(squares.values.size());
  return std::sqrt(spread / effective_size.of_split(squares) / variance / 4);
}

double ess_quantile_of(const ChainTable& table, std::span<const double> sorted, double probability,
                       EffectiveSize& effective_size) {
  require_probability(probability);
  if (undefined(table.values)) return nan_value;
  // No draw lies above the largest one, so its indicator would be constant.
  const auto size = static_cast<double>(sorted.size());
  if (probability == 1) probability = (size - 0.5) / size;
  const double quantile = quantile_of_sorted(sorted, probability);
  return effective_size.of_split(
      transformed(table, [quantile](double x) { return x <= quantile ? 1.0 : 0.0; }));
}

double mcse_quantile_of(std::span<const double> sorted, double probability, double ess) {
  if (std::isnan(ess)) return nan_value;
  // Vehtari et al. (2021), section 4.4: half the width of the draws between the 16% and 84% points
  // of the beta distribution that the distribution function at the quantile would have with that
  // many independent draws.
  const double a = ess * probability + 1;
  const double b = ess * (1 - probability) + 1;
  const auto size = static_cast<double>(sorted.size());
  const double low = std::max(std::floor(beta_quantile(0.1586553, a, b) * size), 1.0);
  const double high = std::min(std::ceil(beta_quantile(0.8413447, a, b) * size), size);
  return (sorted[static_cast<std::size_t>(high) - 1] - sorted[static_cast<std::size_t>(low) - 1]) /
         2;
}

double rhat(Chains chains) {
  const auto table = gather(chains);
  return rhat_of(table, sorted_values(table), rank_normalised(split_chains(table)));
}

double ess_bulk(Chains chains) {
  return EffectiveSize{}(rank_normalised(split_chains(gather(chains))));
}

double ess_tail(Chains chains) {
  const auto table = gather(chains);
  EffectiveSize effective_size;
  return ess_tail_of(table, sorted_values(table), effective_size);
}

double ess_basic(Chains chains, bool split) {
  const auto table = gather(chains);
  return EffectiveSize{}(split ? split_chains(table) : table);
}

double ess_mean(Chains chains) { return ess_basic(chains, true); }

double ess_sd(Chains chains) {
  EffectiveSize effective_size;
  return ess_sd_of(gather(chains), effective_size);
}

double mcse_mean(Chains chains) {
  const auto table = gather(chains);
  return std::sqrt(variance_of(table.values) / EffectiveSize{}.of_split(table));
}

double mcse_sd(Chains chains) {
  EffectiveSize effective_size;
  return mcse_sd_of(gather(chains), effective_size);
}

double mcse_quantile(Chains chains, double probability) {
  const auto table = gather(chains);
  const auto sorted = sorted_values(table);
  EffectiveSize effective_size;
  return mcse_quantile_of(sorted, probability,
                          ess_quantile_of(table, sorted, probability, effective_size));
}

DrawsCheck check_draws(Chains chains) {
  const auto table = gather(chains);
  DrawsCheck check;
  for (std::size_t c = 0; c < table.chains; ++c) {
    const auto chain = table.chain(c);
    if (!std::all_of(chain.begin(), chain.end(), [](double x) { return std::isfinite(x); })) {
      check.chains.push_back(c);
    }
  }
  if (!check.chains.empty()) {
    check.condition = DrawsCondition::not_finite;
    return check;
  }
  if (table.chains == 0 || table.iterations < 4) {
    check.condition = DrawsCondition::too_short;
    return check;
  }
  if (undefined(table.values)) {
    check.condition = DrawsCondition::constant;
    return check;
  }
  check.chains = stuck_chains(table);
  if (!check.chains.empty()) check.condition = DrawsCondition::stuck;
  return check;
}

Convergence convergence(Chains chains) {
  const auto table = gather(chains);
  const auto sorted = sorted_values(table);
  const auto scores = rank_normalised(split_chains(table));
  EffectiveSize effective_size;
  Convergence result;
  result.rhat = rhat_of(table, sorted, scores);
  result.ess_bulk = effective_size(scores);
  result.ess_within = effective_size.of_latest_within();
  effective_size(rank_normalised(split_chains(folded(table, sorted))));
  result.ess_within = smaller(result.ess_within, effective_size.of_latest_within());
  result.ess_tail = ess_tail_of(table, sorted, effective_size);
  result.check = check_draws(chains);
  return result;
}

void WorstConvergence::add(const Convergence& scalar) {
  if (scalar.check.condition == DrawsCondition::constant) return;
  // fmax and fmin ignore a NaN.
  rhat = std::fmax(rhat, scalar.rhat);
  ess = std::fmin(ess, std::fmin(scalar.ess_bulk, scalar.ess_tail));
}

double most_healthy_rhat(std::size_t chains, std::size_t draws, const Convergence& convergence,
                         std::size_t parameters) {
  const double ess_within = convergence.ess_within;
  // R-hat squared is 1 + V / W - 1 / n, with n draws in each of m half chains, V the variance of
  // their means and W that of their draws. If the chains agree, V is v m / ess_within times a
  // chi-square variable over its m - 1 degrees of freedom, v the variance of a draw, and W lacks
  // V. ess_within has the error of a sum of correlations, over twice as many lags to either side as
  // draws that count as one.
  constexpr double ess_per_degree = 4;
  // Of slower chains one cannot say what would be healthy.
  constexpr double least_ess_per_half = 5;
  const auto halves = 2 * static_cast<double>(chains);
  const bool known = chains > 0 && draws >= 4 && ess_within >= least_ess_per_half * halves;
  if (!known) return least_limit_of_rhat;
  // Each parameter has two: of its bulk and of its tails.
  const double tests = 2 * static_cast<double>(std::max<std::size_t>(1, parameters));
  const double degrees = std::min(ess_within / ess_per_degree, convergence.degrees_within);
  const double ratio = upper_f_quantile(healthy_rhat_rate / tests, halves - 1, degrees);
  const double square =
      1 + halves / (ess_within - halves) * ratio - 1 / static_cast<double>(draws / 2);
  return std::max(least_limit_of_rhat, std::sqrt(square));
}

double energy_bfmi(std::span<const double> energies) {
  if (energies.size() < 3 || undefined(energies)) return nan_value;
  double changes = 0;
  for (std::size_t i = 1; i < energies.size(); ++i) {
    const double change = energies[i] - energies[i - 1];
    changes += change * change;
  }
  return changes / squares_about(energies, mean_of(energies));
}

}  // namespace rehmc
