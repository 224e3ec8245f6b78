// Quantiles of weighted numbers.
#include "rehmc/estimate/quantiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/sort/spreadsort/float_sort.hpp>
#include <cmath>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/checks.hpp"

namespace rehmc {

EmpiricalDistribution::EmpiricalDistribution(std::vector<double> values,
                                             std::span<const double> weights)
    : values_(std::move(values)) {
  if (!weights.empty() && weights.size() != values_.size()) {
    throw DataError(fmt::format("{} weights for {} values: give one weight for each value, or none",
                                weights.size(), values_.size()));
  }
  if (values_.empty()) throw DataError("no values: an empirical distribution needs at least one");
  std::for_each(weights.begin(), weights.end(), require_weight);
  const auto is_nan = [](double x) { return std::isnan(x); };
  const auto alike = [&](double weight) { return weight == weights[0]; };
  if (weights.empty() || (weights[0] > 0 && std::all_of(weights.begin(), weights.end(), alike))) {
    has_nan_ = std::any_of(values_.begin(), values_.end(), is_nan);
    if (!has_nan_) boost::sort::spreadsort::float_sort(values_.begin(), values_.end());
    return;
  }

  std::vector<std::pair<double, double>> items;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (weights[i] > 0) items.emplace_back(values_[i], weights[i]);
  }
  if (items.empty()) throw DataError("all weights are 0: at least one must be positive");
  has_nan_ = std::any_of(items.begin(), items.end(), [&](auto item) { return is_nan(item.first); });
  if (has_nan_) return;
  std::sort(items.begin(), items.end());
  values_.clear();
  double sum = 0;
  double squares = 0;
  for (const auto& [value, weight] : items) {
    values_.push_back(value);
    cumulative_.push_back(sum += weight);
    squares += weight * weight;
  }
  for (double& share : cumulative_) share /= sum;
  effective_count_ = sum * sum / squares;
}

double EmpiricalDistribution::quantile(double probability) const {
  require_probability(probability);
  if (has_nan_) return nan_value;
  if (cumulative_.empty()) return quantile_of_sorted(values_, probability);
  const double begin = probability * (1 - 1 / effective_count_);
  const double end = std::min(begin + 1 / effective_count_, 1.0);
  std::size_t i = static_cast<std::size_t>(
      std::upper_bound(cumulative_.begin(), cumulative_.end(), begin) - cumulative_.begin());
  i = std::min(i, values_.size() - 1);
  const std::size_t first = i;
  double sum = 0;
  double from = begin;
  for (; from < end && i < values_.size(); ++i) {
    const double to = std::min(cumulative_[i], end);
    if (to > from) sum += (to - from) * values_[i];
    from = to;
  }
  // Rounding must not leave the window: equal numbers give exactly that number.
  const std::size_t last = std::max(i, first + 1) - 1;
  return std::clamp(sum / (from - begin), values_[first], values_[last]);
}
}  // namespace rehmc
