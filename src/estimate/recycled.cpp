// Mean, sd and quantiles with their errors, from plain draws and from weighted trajectories.
#include "rehmc/estimate/recycled.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/checks.hpp"
#include "rehmc/estimate/quantiles.hpp"
#include "rehmc/estimate/rare_events.hpp"
#include "rehmc/estimate/shares_below.hpp"

namespace rehmc {

namespace {

Estimate unknown_estimate(std::span<const double> probabilities) {
  Estimate result;
  result.mean = result.mcse_mean = result.ess_mean = nan_value;
  result.sd = result.mcse_sd = result.ess_sd = nan_value;
  for (const double p : probabilities) {
    require_probability(p);
    result.quantiles.push_back({p, nan_value, nan_value, nan_value, nan_value});
  }
  return result;
}

/// Degrees of freedom of the error of the mean of a series.
double degrees_of(const ChainTable& table, double squared_error) {
  const double mean = mean_of(table.values);
  const ChainTable centred = transformed(table, [mean](double x) { return x - mean; });
  return with_unseen_events(centred, squared_error).degrees;
}

/// Whether numbers differ by no more than rounding in a weighted mean of equal numbers.
bool still(std::span<const double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double size = std::max(std::abs(*least), std::abs(*most));
  return *most - *least <= 64 * std::numeric_limits<double>::epsilon() * size;
}

DrawsCondition recycled_condition(const ChainTable& first, const ChainTable& second) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(first.values.begin(), first.values.end(), finite) ||
      !std::all_of(second.values.begin(), second.values.end(), finite)) {
    return DrawsCondition::not_finite;
  }
  if (first.chains == 0 || first.iterations < 4) return DrawsCondition::too_short;
  if (still(first.values)) return DrawsCondition::constant;
  for (std::size_t c = 0; c < first.chains; ++c) {
    if (still(first.chain(c))) return DrawsCondition::stuck;
  }
  return DrawsCondition::ordinary;
}

/// The weight of every draw, with mean 1.
std::vector<double> relative_masses(Chains mass, const ChainTable& shape) {
  if (mass.empty()) return std::vector<double>(shape.values.size(), 1.0);
  const ChainTable table = gather(mass);
  if (table.chains != shape.chains || table.iterations != shape.iterations) {
    throw DataError(
        fmt::format("mass has {} chains of {} draws, first has {} of {}: give one mass per draw",
                    table.chains, table.iterations, shape.chains, shape.iterations));
  }
  std::for_each(table.values.begin(), table.values.end(), require_weight);
  const double mean = mean_of(table.values);
  if (!(mean > 0)) throw DataError("all masses are 0: at least one draw must count");
  std::vector<double> masses = table.values;
  for (double& value : masses) value /= mean;
  return masses;
}

/// A ratio estimate sum m g / sum m, masses having the mean 1, and the series whose mean has the
/// same error.
struct RatioEstimate {
  double value;
  ChainTable influence;
  bool constant;

  RatioEstimate(const ChainTable& series, std::span<const double> masses)
      : influence(series), constant(still(series.values)) {
    auto& values = influence.values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= masses[i];
    value = mean_of(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = masses[i] * (series.values[i] - value);
  }

  /// Squared Monte Carlo standard error with divisor n - 1, as in posterior's mcse_mean. A series
  /// that is constant except for rounding has none: noise of 1e-16 would look like a very good
  /// sample.
  double squared_error(EffectiveSize& effective_size) const {
    if (constant) return nan_value;
    return variance_of(influence.values) / effective_size.of_split(influence);
  }
  /// Degrees of freedom of that error.
  double degrees(double squared_error) const {
    return with_unseen_events(influence, squared_error).degrees;
  }
};

/// The kept states of all chains in one place.
struct KeptTable {
  std::vector<double> values;
  std::vector<double> shares;     ///< within their draw, summing to 1 there
  std::vector<std::size_t> ends;  ///< of every draw's states
  std::vector<double> weights;    ///< shares times the masses of the draws

  KeptTable(std::span<const KeptStates> kept, const ChainTable& shape,
            std::span<const double> masses) {
    if (kept.size() != shape.chains) {
      throw DataError(
          fmt::format("kept states of {} chains, draws of {}: give both for every chain",
                      kept.size(), shape.chains));
    }
    std::size_t count = 0;
    for (const KeptStates& chain : kept) count += chain.values.size;
    for (auto* const column : {&values, &shares, &weights}) column->reserve(count);
    ends.reserve(shape.values.size());
    for (std::size_t c = 0; c < kept.size(); ++c) {
      const KeptStates& chain = kept[c];
      if (chain.begins.size() != shape.iterations + 1 || chain.begins.back() != chain.values.size ||
          !std::is_sorted(chain.begins.begin(), chain.begins.end()) ||
          (!chain.weights.empty() && chain.weights.size() != chain.values.size)) {
        throw DataError(fmt::format(
            "kept states of chain {}: {} values, {} weights and {} begins for {} draws; give one "
            "weight per value or none, and one begin per draw, rising, followed by the number of "
            "values",
            c, chain.values.size, chain.weights.size(), chain.begins.size(), shape.iterations));
      }
      for (std::size_t i = 0; i < shape.iterations; ++i) {
        append(chain, c, i, masses[c * shape.iterations + i]);
      }
    }
  }

  /// The state of each draw with the largest weight. That of a chain that does not move is where it
  /// stays, although states of rejected trajectories, with tiny weights, differ.
  ChainTable heaviest(const ChainTable& shape) const {
    ChainTable result{shape.chains, shape.iterations, {}};
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      const auto share = [&](std::size_t k) {
        return shares.begin() + static_cast<std::ptrdiff_t>(k);
      };
      const auto most = std::max_element(share(begin), share(end)) - shares.begin();
      result.values.push_back(values[static_cast<std::size_t>(most)]);
      begin = end;
    }
    return result;
  }

 private:
  void append(const KeptStates& chain, std::size_t c, std::size_t i, double mass) {
    const auto weight = [&](std::size_t k) {
      return chain.weights.empty() ? 1.0 : chain.weights[k];
    };
    double sum = 0;
    for (std::size_t k = chain.begins[i]; k < chain.begins[i + 1]; ++k) {
      require_weight(weight(k));
      sum += weight(k);
    }
    if (!(sum > 0)) {
      throw DataError(fmt::format(
          "draw {} of chain {} kept no state of positive weight: keep at least one", i, c));
    }
    for (std::size_t k = chain.begins[i]; k < chain.begins[i + 1]; ++k) {
      values.push_back(chain.values[k]);
      shares.push_back(weight(k) / sum);
      weights.push_back(mass * weight(k) / sum);
    }
    ends.push_back(values.size());
  }
};

/// How much the quantile moves when the distribution function moves, 1 / density. The difference
/// quotient is taken on the scale of normal scores, on which quantile functions of all but the
/// heaviest tails are nearly straight, over a width that shrinks at the optimal rate n^(-1/5) of a
/// density estimate; the constant was chosen by simulation for the variance of error / MCSE over
/// distributions from uniform to Cauchy.
double quantile_slope(const EmpiricalDistribution& distribution, double probability, double ess) {
  const double score = normal_quantile(probability);
  const double width = 1.2 * std::pow(ess, -0.2);
  const double density = std::exp(-score * score / 2) / std::sqrt(2 * std::numbers::pi);
  const double rise = distribution.quantile(normal_cdf(score + width)) -
                      distribution.quantile(normal_cdf(score - width));
  return rise / (2 * width * density);
}

/// Var((x - mean)^2) of the kept states.
double spread_of_squares(const KeptTable& kept, double mean) {
  double total = 0;
  double fourth = 0;
  double variance = 0;
  for (std::size_t k = 0; k < kept.values.size(); ++k) {
    const double square = (kept.values[k] - mean) * (kept.values[k] - mean);
    total += kept.weights[k];
    variance += kept.weights[k] * square;
    fourth += kept.weights[k] * square * square;
  }
  variance /= total;
  fourth /= total;
  return fourth - variance * variance;
}

/// Adds what the kept states give: quantiles with their errors, and the ESS of the sd.
void estimate_from_kept(const KeptTable& kept, const ChainTable& first,
                        std::span<const double> masses, double variance, Estimate& result) {
  const EmpiricalDistribution distribution(kept.values, kept.weights);
  for (auto& quantile : result.quantiles)
    quantile.value = distribution.quantile(quantile.probability);
  if (result.condition != DrawsCondition::ordinary) return;
  const auto count = static_cast<double>(first.values.size());
  EffectiveSize effective_size;
  result.ess_sd =
      spread_of_squares(kept, result.mean) / (4 * variance) / (result.mcse_sd * result.mcse_sd);
  std::vector<double> thresholds;
  for (const auto& quantile : result.quantiles) thresholds.push_back(quantile.value);
  const std::vector<double> shares = shares_below(kept.values, kept.shares, kept.ends, thresholds);
  for (std::size_t t = 0; t < thresholds.size(); ++t) {
    auto& quantile = result.quantiles[t];
    if (quantile.probability == 0 || quantile.probability == 1) continue;
    const auto of_threshold = std::span(shares).subspan(t * kept.ends.size(), kept.ends.size());
    const RatioEstimate below(
        {first.chains, first.iterations, {of_threshold.begin(), of_threshold.end()}}, masses);
    const double squared_error = below.squared_error(effective_size);
    quantile.ess = below.value * (1 - below.value) * count / (count - 1) / squared_error;
    if (std::isnan(quantile.ess)) continue;
    quantile.mcse =
        std::sqrt(squared_error) * quantile_slope(distribution, quantile.probability, quantile.ess);
    quantile.degrees = below.degrees(squared_error);
  }
}

}  // namespace

Estimate plain_estimate(Chains chains, std::span<const double> probabilities) {
  Estimate result = unknown_estimate(probabilities);
  result.condition = check_draws(chains).condition;
  const ChainTable table = gather(chains);
  if (table.values.empty()) return result;
  const EmpiricalDistribution distribution(table.values);
  result.mean = mean_of(table.values);
  result.sd = std::sqrt(variance_of(table.values));
  for (auto& quantile : result.quantiles)
    quantile.value = distribution.quantile(quantile.probability);
  if (result.condition != DrawsCondition::ordinary) return result;

  EffectiveSize effective_size;
  result.ess_mean = effective_size.of_split(table);
  result.mcse_mean = result.sd / std::sqrt(result.ess_mean);
  result.ess_sd = ess_sd_of(table, effective_size);
  result.mcse_sd = mcse_sd_of(table, effective_size);
  result.degrees_mean = degrees_of(table, result.mcse_mean * result.mcse_mean);
  const double mean = result.mean;
  const ChainTable squares =
      transformed(table, [mean](double x) { return (x - mean) * (x - mean); });
  // The delta method, as in mcse_sd_of().
  const double error_of_variance = 2 * result.sd * result.mcse_sd;
  result.degrees_sd = degrees_of(squares, error_of_variance * error_of_variance);
  for (auto& quantile : result.quantiles) {
    quantile.ess =
        ess_quantile_of(table, distribution.values(), quantile.probability, effective_size);
    quantile.mcse = mcse_quantile_of(distribution.values(), quantile.probability, quantile.ess);
    const double value = quantile.value;
    quantile.degrees =
        degrees_of(transformed(table, [value](double x) { return x <= value ? 1.0 : 0.0; }),
                   quantile.probability * (1 - quantile.probability) / quantile.ess);
  }
  return result;
}

Estimate recycled_estimate(const RecycledDraws& draws, std::span<const double> probabilities) {
  Estimate result =
      unknown_estimate(draws.kept.empty() ? std::span<const double>() : probabilities);
  const ChainTable first = gather(draws.first);
  const ChainTable second = gather(draws.second);
  if (first.chains != second.chains || first.iterations != second.iterations) {
    throw DataError(
        fmt::format("first has {} chains of {} draws, second {} of {}: both need the same draws",
                    first.chains, first.iterations, second.chains, second.iterations));
  }
  result.condition = recycled_condition(first, second);
  if (first.values.empty()) return result;
  const std::vector<double> masses = relative_masses(draws.mass, first);
  std::optional<KeptTable> kept;
  if (!draws.kept.empty()) kept.emplace(draws.kept, first, masses);
  if (kept && result.condition == DrawsCondition::ordinary &&
      !stuck_chains(kept->heaviest(first)).empty()) {
    result.condition = DrawsCondition::stuck;
  }
  const auto count = static_cast<double>(first.values.size());
  EffectiveSize effective_size;

  const RatioEstimate offset(first, masses);
  result.mean = draws.centre + offset.value;
  // Per draw the mean of (x - mean)^2, which is y^2 - 2 m y + m^2 for y = x - centre, m = mean -
  // centre.
  ChainTable squares = second;
  for (std::size_t i = 0; i < squares.values.size(); ++i) {
    const double square = second.values[i] - offset.value * (2 * first.values[i] - offset.value);
    squares.values[i] = square < 0 ? 0 : square;
  }
  const RatioEstimate variance(squares, masses);
  const double corrected = variance.value * count / (count - 1);
  result.sd = std::sqrt(corrected);
  if (result.condition == DrawsCondition::ordinary) {
    const double squared_error = offset.squared_error(effective_size);
    result.mcse_mean = std::sqrt(squared_error);
    result.ess_mean = corrected / squared_error;
    result.degrees_mean = offset.degrees(squared_error);
    // The delta method; divisor n as in posterior's mcse_sd.
    const double of_variance = variance.squared_error(effective_size);
    result.mcse_sd = std::sqrt(of_variance * (count - 1) / count / variance.value / 4);
    result.degrees_sd = variance.degrees(of_variance);
  }
  if (kept) estimate_from_kept(*kept, first, masses, variance.value, result);
  return result;
}

}  // namespace rehmc
