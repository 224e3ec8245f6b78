// Sums over the states of draws, arm by arm.
#include "experiments/chain_errors.hpp"

#include <algorithm>
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
      moments_({centre.begin(), centre.end()}),
      sums_(arms, std::vector<double>(moments_.size())),
      counts_(arms, std::vector<float>(centre.size() * Bins::count)) {}

void ArmSums::add(std::span<const std::span<const double>> states, const ArmShares& shares) {
  ++draws_;
  uses_.resize(std::max(uses_.size(), states.size()));
  for (auto& uses : uses_) uses.clear();
  for (std::size_t arm = 0; arm < sums_.size(); ++arm) {
    add_moments(arm, shares.of(arm), states);
    for (const Share& share : shares.for_histogram(arm)) {
      uses_[share.state].push_back({arm, share.weight});
    }
  }
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

void ArmSums::add_moments(std::size_t arm, std::span<const Share> shares,
                          std::span<const std::span<const double>> states) {
  weighted_.clear();
  for (const auto& [state, weight] : shares) weighted_.push_back({{states[state], {}, 0}, weight});
  // In blocks, which read and write the sums once for all of their states.
  const std::span<const WeightedState> all(weighted_);
  for (std::size_t s = 0; s < all.size(); s += block) {
    moments_.add_all(all.subspan(s, std::min(block, all.size() - s)), sums_[arm]);
  }
}

void ArmSums::estimate(std::size_t arm, Statistic statistic, std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double mean = sums_[arm][i] / draws_;
    switch (statistic) {
      case Statistic::mean:
        out[i] = centre_[i] + mean;
        break;
      case Statistic::variance:
        out[i] = sums_[arm][out.size() + i] / draws_ - mean * mean;
        break;
      case Statistic::quantile:
        out[i] = bins_.quantile(i, &counts_[arm][i * Bins::count], draws_);
        break;
    }
  }
}

}  // namespace rehmc::experiments
