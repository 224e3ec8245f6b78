// Sums over the states of draws, arm by arm.
#include "experiments/chain_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rehmc::experiments {

Bins::Bins(std::span<const double> quantile, std::span<const double> sd) {
  for (std::size_t i = 0; i < quantile.size(); ++i) {
    scale.push_back(1 / (width * sd[i]));
    low.push_back(quantile[i] - static_cast<double>(count) / 2 * width * sd[i]);
  }
}

void Places::find(const Bins& of, std::span<const double> values) {
  constexpr std::size_t count = Bins::count;
  const double* const low = of.low.data();
  const double* const scale = of.scale.data();
  const std::size_t d = values.size();
  // First all bins, vectorised; then those of high values, without a branch, because which values
  // are high cannot be predicted.
  bins_.resize(d);
  places_.resize(d);
#pragma omp simd
  for (std::size_t i = 0; i < d; ++i) {
    const double at = (values[i] - low[i]) * scale[i];
    bins_[i] = static_cast<std::int32_t>(std::min(std::max(at + 1, 0.0), double{count}));
  }
  std::size_t end = 0;
  for (std::size_t i = 0; i < d; ++i) {
    places_[end] = static_cast<std::uint32_t>(i * count) + static_cast<std::uint32_t>(bins_[i] - 1);
    end += bins_[i] > 0;
  }
  end_ = end;
}

ArmSums::ArmSums(std::size_t arms, std::span<const double> centre, const Bins& bins)
    : centre_(centre),
      bins_(bins),
      masses_(arms),
      sums_(arms, std::vector<double>(2 * centre.size())),
      counts_(arms, std::vector<float>(centre.size() * Bins::count)) {}

void ArmSums::add(std::span<const std::span<const double>> states, const ArmShares& shares) {
  const std::size_t d = centre_.size();
  const std::size_t enough = std::max(uses_.size(), states.size());
  uses_.resize(enough);
  distances_.resize(enough, std::vector<float>(d));
  for (auto& uses : uses_) uses.clear();
  for (std::size_t s = 0; s < states.size(); ++s) {
    const double* const x = states[s].data();
    const double* const centre = centre_.data();
    float* const distance = distances_[s].data();
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) distance[i] = static_cast<float>(x[i] - centre[i]);
  }
  add_moments(shares);
  for (std::size_t arm = 0; arm < sums_.size(); ++arm) {
    const double mass = shares.mass(arm);
    masses_[arm] += mass;
    for (const Share& share : shares.for_histogram(arm)) {
      uses_[share.state].push_back({arm, mass * share.weight});
    }
  }
  add_to_histograms(states);
}

void ArmSums::add_to_histograms(std::span<const std::span<const double>> states) {
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (uses_[s].empty()) continue;
    places_.find(bins_, states[s]);
    for (const auto& [arm, weight] : uses_[s]) {
      float* const counts = counts_[arm].data();
      const auto count = static_cast<float>(weight);
      for (const std::uint32_t place : places_.found()) counts[place] += count;
    }
  }
}

namespace {
/// Parameters at a time: their distances in a hundred states, and two sums, stay in the cache.
constexpr std::size_t tile = 256;
}  // namespace

void ArmSums::add_moments(const ArmShares& shares) {
  const std::size_t d = centre_.size();
  for (std::size_t from = 0; from < d; from += tile) {
    for (std::size_t arm = 0; arm < sums_.size(); ++arm) {
      add_tile(shares, arm, from, std::min(tile, d - from));
    }
  }
}

void ArmSums::add_tile(const ArmShares& shares, std::size_t arm, std::size_t from,
                       std::size_t size) {
  std::array<float, tile> first{};
  std::array<float, tile> second{};
  for (const auto& [state, share] : shares.of(arm)) {
    const float* const distance = distances_[state].data() + from;
    const auto weight = static_cast<float>(share);
#pragma omp simd
    for (std::size_t i = 0; i < size; ++i) {
      const float weighted = weight * distance[i];
      first[i] += weighted;
      second[i] += weighted * distance[i];
    }
  }
  const double mass = shares.mass(arm);
  double* const sums = sums_[arm].data() + from;
  double* const squares = sums + centre_.size();
#pragma omp simd
  for (std::size_t i = 0; i < size; ++i) {
    sums[i] += mass * static_cast<double>(first[i]);
    squares[i] += mass * static_cast<double>(second[i]);
  }
}

void ArmSums::estimate(std::size_t arm, Statistic statistic, std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double mean = sums_[arm][i] / masses_[arm];
    switch (statistic) {
      case Statistic::mean:
        out[i] = centre_[i] + mean;
        break;
      case Statistic::variance:
        out[i] = sums_[arm][out.size() + i] / masses_[arm] - mean * mean;
        break;
      case Statistic::quantile:
        out[i] = bins_.quantile(i, &counts_[arm][i * Bins::count], masses_[arm]);
        break;
    }
  }
}

}  // namespace rehmc::experiments
