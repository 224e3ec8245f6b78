// Computes what the plots show from the draws of a run.
#include "plots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "bounds.hpp"
#include "rehmc/estimate/chain_table.hpp"

namespace rehmc::report {

namespace {

struct WeightedValues {
  std::vector<double> values;
  std::vector<double> weights;
};

/// The recycled states of every stride-th draw.
WeightedValues recycled_values(const SampleResult& result, std::size_t parameter,
                               std::size_t stride) {
  WeightedValues recycled;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    const std::optional<std::size_t> place = record.kept_place(parameter);
    if (!place) return {};
    for (std::size_t i = 0; i < record.kept_end.size(); i += stride) {
      const double mass = i < record.mass.size() ? record.mass[i] : 1;
      for (std::size_t k = record.kept_begin(i); k < record.kept_begin(i + 1); ++k) {
        recycled.values.push_back(record.kept[k * record.kept_dimension() + *place]);
        recycled.weights.push_back(mass * record.kept_weight[k]);
      }
    }
  }
  return recycled;
}

}  // namespace

QuantisedValues quantised(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  QuantisedValues result{least, most, {}};
  result.parts.reserve(values.size());
  for (const double x : values) {
    if (!std::isfinite(x)) {
      result.parts.emplace_back();
    } else {
      const double share = most > least ? x / (most - least) - least / (most - least) : 0;
      result.parts.emplace_back(
          std::isfinite(share) ? static_cast<int>(std::lround(share * quantum)) : 0);
    }
  }
  return result;
}

std::vector<std::vector<int>> rank_histograms(const SampleResult& result, std::size_t parameter,
                                              std::size_t stride) {
  struct Entry {
    double value;
    std::size_t chain;
  };
  std::vector<Entry> entries;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    for (std::size_t i = 0; i < record.size(); i += stride) {
      const double x = record.draw(i)[parameter];
      if (!std::isnan(x)) entries.push_back({x, c});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.value < b.value; });
  std::vector<std::vector<int>> counts(std::min(result.chains.size(), most_chains),
                                       std::vector<int>(rank_bins, 0));
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].value == entries[begin].value) ++end;
    const std::size_t bin = (begin + end - 1) * rank_bins / (2 * entries.size());
    for (; begin < end; ++begin) {
      if (entries[begin].chain < counts.size()) ++counts[entries[begin].chain][bin];
    }
  }
  return counts;
}

std::optional<DensityPair> parameter_densities(const SampleResult& result, std::size_t parameter,
                                               bool recycled, std::size_t stride) {
  const std::vector<double> values = thinned_values(result, parameter, stride);
  const auto grid = density_grid(values, curve_points);
  if (!grid) return std::nullopt;
  DensityPair pair{*grid, density_curve(*grid, values), {}};
  const auto states = recycled ? recycled_values(result, parameter, stride) : WeightedValues{};
  if (!states.values.empty()) pair.second = density_curve(*grid, states.values, states.weights);
  return pair;
}

std::optional<ReplicateDensities> replicate_densities(const SampleResult& result,
                                                      const PredictiveCheck& check) {
  const std::size_t draws = total_draws(result);
  const std::size_t stride = stride_for(draws, most_replicates);
  std::vector<std::vector<double>> replicated;
  std::vector<double> all = check.observed;
  for (std::size_t at = 0; at < draws; at += stride) {
    std::size_t draw = at;
    std::size_t chain = 0;
    while (draw >= result.chains[chain].record.size()) draw -= result.chains[chain++].record.size();
    const auto row = result.chains[chain].record.draw(draw);
    std::vector<double>& values = replicated.emplace_back();
    for (const std::size_t column : check.columns) values.push_back(row[column]);
    all.insert(all.end(), values.begin(), values.end());
  }
  auto grid = density_grid(std::move(all), curve_points);
  if (!grid || replicated.empty()) return std::nullopt;
  // The bandwidth for as many numbers as one data set has.
  const auto own = density_grid(check.observed, curve_points);
  if (own) grid->bandwidth = own->bandwidth;
  ReplicateDensities densities{*grid, density_curve(*grid, check.observed), {}};
  for (const auto& values : replicated)
    densities.replicates.push_back(density_curve(*grid, values));
  return densities;
}

std::optional<DensityPair> energy_densities(const SampleResult& result, std::size_t stride) {
  std::vector<double> centred;
  std::vector<double> change;
  for (const ChainResult& chain : result.chains) {
    const std::vector<double>& energy = chain.record.energy;
    const double mean = mean_of(energy);
    for (std::size_t i = 0; i < energy.size(); i += stride) {
      centred.push_back(energy[i] - mean);
      if (i > 0) change.push_back(energy[i] - energy[i - 1]);
    }
  }
  std::vector<double> both = centred;
  both.insert(both.end(), change.begin(), change.end());
  const auto grid = density_grid(std::move(both), curve_points);
  if (!grid) return std::nullopt;
  return DensityPair{*grid, density_curve(*grid, centred), density_curve(*grid, change)};
}

std::string sparkline(const SampleResult& result, std::size_t parameter, std::size_t stride) {
  const std::vector<double> values = thinned_values(result, parameter, stride);
  const auto grid = density_grid(values, spark_points);
  if (!grid) return {};
  const std::vector<double> curve = density_curve(*grid, values);
  const double top = *std::max_element(curve.begin(), curve.end());
  std::string heights;
  for (const double height : curve) {
    constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
    heights += top > 0 ? digits[static_cast<std::size_t>(std::lround(35 * height / top))] : '0';
  }
  return heights;
}

}  // namespace rehmc::report
