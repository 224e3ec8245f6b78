// Weighted quantiles, exact and sketched.
#include "rehmc/estimate/quantiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/checks.hpp"

namespace rehmc {

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

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
    if (!has_nan_) std::sort(values_.begin(), values_.end());
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
  // Rounding may not lead out of the window: equal numbers give that number exactly.
  const std::size_t last = std::max(i, first + 1) - 1;
  return std::clamp(sum / (from - begin), values_[first], values_[last]);
}

double EmpiricalDistribution::cumulative(double x) const {
  if (has_nan_ || std::isnan(x)) return nan_value;
  const auto count = static_cast<std::size_t>(std::upper_bound(values_.begin(), values_.end(), x) -
                                              values_.begin());
  if (cumulative_.empty()) return static_cast<double>(count) / static_cast<double>(values_.size());
  return count == 0 ? 0 : cumulative_[count - 1];
}

QuantileSketch::QuantileSketch(const Address& address, std::size_t buffer_size)
    : buffer_size_(buffer_size), stream_(address, Purpose::estimate) {
  if (buffer_size < 2) {
    throw ConfigError(fmt::format("buffer_size = {}: must be at least 2", buffer_size));
  }
}

void QuantileSketch::add(double weight, double value) {
  require_weight(weight);
  if (weight == 0) return;
  weight_ += weight;
  if (std::isnan(value)) has_nan_ = true;
  if (has_nan_) return;
  fresh_.push_back({value, weight});
  if (fresh_.size() < 2 * buffer_size_) return;
  std::sort(fresh_.begin(), fresh_.end(), [](Item a, Item b) { return a.value < b.value; });
  Buffer buffer = collapse(fresh_);
  fresh_.clear();
  carry(std::move(buffer), 0);
}

/// Systematic sampling: k points at equal distances on the line of cumulated weights, shifted
/// together by one uniform number, each take the item in whose stretch they fall.
QuantileSketch::Buffer QuantileSketch::collapse(std::span<const Item> sorted) {
  double sum = 0;
  for (const Item& item : sorted) sum += item.weight;
  const double step = sum / static_cast<double>(buffer_size_);
  const double offset = stream_.uniform();
  Buffer result{{}, step};
  result.values.reserve(buffer_size_);
  std::size_t i = 0;
  double end = sorted[0].weight;
  for (std::size_t j = 0; j < buffer_size_; ++j) {
    const double point = (static_cast<double>(j) + offset) * step;
    while (end <= point && i + 1 < sorted.size()) end += sorted[++i].weight;
    result.values.push_back(sorted[i].value);
  }
  rank_variance_ += step * step / 4;  // f (1 - f) <= 1/4
  return result;
}

void QuantileSketch::carry(Buffer buffer, std::size_t level) {
  std::vector<Item> both;
  for (;; ++level) {
    if (level >= levels_.size()) levels_.resize(level + 1);
    Buffer& here = levels_[level];
    if (here.values.empty()) {
      here = std::move(buffer);
      return;
    }
    both.clear();
    auto a = here.values.begin();
    auto b = buffer.values.begin();
    while (a != here.values.end() || b != buffer.values.end()) {
      const bool take_here = b == buffer.values.end() || (a != here.values.end() && *a <= *b);
      both.push_back(take_here ? Item{*a++, here.weight} : Item{*b++, buffer.weight});
    }
    here.values.clear();
    buffer = collapse(both);
  }
}

void QuantileSketch::merge(const QuantileSketch& other) {
  if (other.buffer_size_ != buffer_size_) {
    throw ConfigError(
        fmt::format("buffer_size = {} cannot be merged with buffer_size = {}: make both alike",
                    buffer_size_, other.buffer_size_));
  }
  // A copy, because a sketch may be merged with itself.
  const auto fresh = other.fresh_;
  const auto levels = other.levels_;
  const double weight = weight_ + other.weight_;
  rank_variance_ += other.rank_variance_;
  has_nan_ = has_nan_ || other.has_nan_;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (!levels[level].values.empty()) carry(levels[level], level);
  }
  for (const Item& item : fresh) add(item.weight, item.value);
  weight_ = weight;
}

EmpiricalDistribution QuantileSketch::distribution() const {
  if (has_nan_) return EmpiricalDistribution({nan_value});
  std::vector<double> values;
  std::vector<double> weights;
  for (const Item& item : fresh_) {
    values.push_back(item.value);
    weights.push_back(item.weight);
  }
  for (const Buffer& buffer : levels_) {
    values.insert(values.end(), buffer.values.begin(), buffer.values.end());
    weights.resize(values.size(), buffer.weight);
  }
  return EmpiricalDistribution(std::move(values), weights);
}

std::size_t QuantileSketch::stored() const {
  return std::accumulate(
      levels_.begin(), levels_.end(), fresh_.size(),
      [](std::size_t sum, const Buffer& buffer) { return sum + buffer.values.size(); });
}

double QuantileSketch::rank_error() const {
  return weight_ > 0 ? std::sqrt(rank_variance_) / weight_ : 0;
}

}  // namespace rehmc
