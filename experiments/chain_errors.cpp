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

void Places::find(const Bins& of, std::span<const double> values, std::size_t first) {
  constexpr std::size_t count = Bins::count;
  const double* const low = of.low.data() + first;
  const double* const scale = of.scale.data() + first;
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
    places_[end] =
        static_cast<std::uint32_t>((first + i) * count) + static_cast<std::uint32_t>(bins_[i] - 1);
    end += bins_[i] > 0;
  }
  end_ = end;
}

ArmSums::ArmSums(std::size_t arms, std::span<const double> centre, const Bins& bins)
    : centre_(centre),
      bins_(bins),
      width_((arms + 7) / 8 * 8),
      masses_(arms),
      sums_(arms, std::vector<double>(2 * centre.size())),
      counts_(centre.size() * rows * width_) {}

void ArmSums::add(std::span<const std::span<const double>> states, const ArmShares& shares) {
  distances_.resize(std::max(distances_.size(), states.size()));
  weights_.assign(states.size() * width_, 0);
  used_.assign(states.size(), false);
  for (std::size_t arm = 0; arm < sums_.size(); ++arm) {
    const double mass = shares.mass(arm);
    masses_[arm] += mass;
    for (const Share& share : shares.for_histogram(arm)) {
      weights_[share.state * width_ + arm] += static_cast<float>(mass * share.weight);
      used_[share.state] = true;
    }
  }
  const std::size_t d = centre_.size();
  for (std::size_t from = 0; from < d; from += tile) {
    const std::size_t size = std::min(tile, d - from);
    add_distances(states, from, size);
    for (std::size_t arm = 0; arm < sums_.size(); ++arm) add_moments(shares, arm, from, size);
    add_to_histograms(states, from, size);
  }
}

void ArmSums::add_distances(std::span<const std::span<const double>> states, std::size_t from,
                            std::size_t size) {
  const double* const centre = centre_.data() + from;
  for (std::size_t s = 0; s < states.size(); ++s) {
    const double* const x = states[s].data() + from;
    float* const distance = distances_[s].data();
#pragma omp simd
    for (std::size_t i = 0; i < size; ++i) distance[i] = static_cast<float>(x[i] - centre[i]);
  }
}

void ArmSums::add_moments(const ArmShares& shares, std::size_t arm, std::size_t from,
                          std::size_t size) {
  // Of whole tiles, whose loops have no rest; what is beyond the last parameter is not used.
  std::array<float, tile> first{};
  std::array<float, tile> second{};
  for (const auto& [state, share] : shares.of(arm)) {
    const float* const distance = distances_[state].data();
    const auto weight = static_cast<float>(share);
#pragma omp simd
    for (std::size_t i = 0; i < tile; ++i) {
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

void ArmSums::add_to_histograms(std::span<const std::span<const double>> states, std::size_t from,
                                std::size_t size) {
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (!used_[s]) continue;
    places_.find(bins_, states[s].subspan(from, size), from);
    const float* const weights = weights_.data() + s * width_;
    for (const std::uint32_t place : places_.found()) {
      float* const counts = counts_.data() + (place + place / Bins::count) * width_;
#pragma omp simd
      for (std::size_t arm = 0; arm < width_; ++arm) counts[arm] += weights[arm];
    }
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
        out[i] = bins_.quantile(i, &counts_[i * rows * width_ + arm], masses_[arm], width_);
        break;
    }
  }
}

}  // namespace rehmc::experiments
