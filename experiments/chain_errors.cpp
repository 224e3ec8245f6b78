// Sums over the states of draws, arm by arm.
#include "experiments/chain_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace rehmc::experiments {

namespace {

constexpr std::size_t lanes = 8;
using Floats [[gnu::vector_size(lanes * sizeof(float)), gnu::may_alias]] = float;
/// Sums of so many lanes stay in registers while states are added.
constexpr std::size_t in_registers = 4;

}  // namespace

Bins::Bins(std::span<const double> quantile, std::span<const double> sd) {
  for (std::size_t i = 0; i < quantile.size(); ++i) {
    scale.push_back(1 / (width * sd[i]));
    low.push_back(quantile[i] - static_cast<double>(count) / 2 * width * sd[i]);
  }
}

void Bins::find(std::span<const double> values, std::size_t first, std::uint8_t* found) const {
  const double* const lows = low.data() + first;
  const double* const scales = scale.data() + first;
  const double* const x = values.data();
  const std::size_t d = values.size();
#pragma omp simd
  for (std::size_t i = 0; i < d; ++i) {
    const double at = (x[i] - lows[i]) * scales[i];
    found[i] = static_cast<std::uint8_t>(
        static_cast<std::int32_t>(std::min(std::max(at + 1, 0.0), double{count})));
  }
}

void Places::find(const Bins& of, std::span<const double> values) {
  bins_.resize(values.size());
  places_.resize(values.size());
  of.find(values, 0, bins_.data());
  // Without a branch, because which values are high cannot be predicted.
  std::size_t end = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    places_[end] = static_cast<std::uint32_t>(i * Bins::count + bins_[i] - 1);
    end += bins_[i] > 0;
  }
  end_ = end;
}

ArmSums::ArmSums(std::size_t arms, std::span<const double> centre, const Bins& bins)
    : centre_(centre),
      bins_(bins),
      groups_((arms + 7) / 8),
      masses_(arms),
      sums_(arms, std::vector<double>(2 * centre.size())),
      counts_((centre.size() + parameters_at_once - 1) / parameters_at_once * parameters_at_once *
              rows * groups_) {}

void ArmSums::add(std::span<const std::span<const double>> states, const ArmShares& shares) {
  distances_.resize(std::max(distances_.size(), states.size()));
  add_weights(shares, states.size());
  const std::size_t d = centre_.size();
  for (std::size_t from = 0; from < d; from += tile) {
    const std::size_t size = std::min(tile, d - from);
    add_distances(states, from, size);
    for (std::size_t arm = 0; arm < sums_.size(); ++arm) add_moments(shares, arm, from, size);
  }
}

/// Gives the states that histograms use a place among those that wait.
void ArmSums::add_weights(const ArmShares& shares, std::size_t states) {
  make_room(states);
  weights_.assign(states * groups_, {});
  waiting_places_.assign(states, not_waiting);
  for (std::size_t arm = 0; arm < sums_.size(); ++arm) {
    const double mass = shares.mass(arm);
    masses_[arm] += mass;
    for (const Share& share : shares.for_histogram(arm)) {
      weights_[share.state * groups_ + arm / 8].of[arm % 8] +=
          static_cast<float>(mass * share.weight);
      waiting_places_[share.state] = 0;
    }
  }
  for (std::size_t s = 0; s < states; ++s) {
    if (waiting_places_[s] == not_waiting) continue;
    std::copy_n(&weights_[s * groups_], groups_, &waiting_weights_[waiting_ * groups_]);
    waiting_places_[s] = waiting_++;
  }
}

void ArmSums::add_distances(std::span<const std::span<const double>> states, std::size_t from,
                            std::size_t size) {
  const double* const centre = centre_.data() + from;
  for (std::size_t s = 0; s < states.size(); ++s) {
    const double* const x = states[s].data() + from;
    float* const distance = distances_[s].of.data();
#pragma omp simd
    for (std::size_t i = 0; i < size; ++i) distance[i] = static_cast<float>(x[i] - centre[i]);
    if (waiting_places_[s] == not_waiting) continue;
    bins_.find({x, size}, from, waiting_bins(from, waiting_places_[s]));
  }
}

void ArmSums::add_moments(const ArmShares& shares, std::size_t arm, std::size_t from,
                          std::size_t size) {
  // Of whole tiles, whose loops have no rest; what is beyond the last parameter is not used.
  Distances first;
  Distances second;
  for (std::size_t part = 0; part < tile; part += in_registers * lanes) {
    Floats sum[in_registers]{};
    Floats square[in_registers]{};
    for (const auto& [state, share] : shares.of(arm)) {
      const auto* const distance =
          reinterpret_cast<const Floats*>(distances_[state].of.data() + part);
      const Floats weight = Floats{} + static_cast<float>(share);
      for (std::size_t r = 0; r < in_registers; ++r) {
        const Floats weighted = weight * distance[r];
        sum[r] += weighted;
        square[r] += weighted * distance[r];
      }
    }
    std::memcpy(first.of.data() + part, sum, sizeof sum);
    std::memcpy(second.of.data() + part, square, sizeof square);
  }
  const double mass = shares.mass(arm);
  double* const sums = sums_[arm].data() + from;
  double* const squares = sums + centre_.size();
#pragma omp simd
  for (std::size_t i = 0; i < size; ++i) {
    sums[i] += mass * static_cast<double>(first.of[i]);
    squares[i] += mass * static_cast<double>(second.of[i]);
  }
}

void ArmSums::make_room(std::size_t states) {
  if (waiting_ + states <= room_) return;
  empty_waiting_room();
  if (states <= room_) return;
  room_ = std::max(states, most_waiting);
  // What is beyond the last parameter stays 0, which is no bin.
  waiting_bins_.assign((centre_.size() + tile - 1) / tile * tile * room_, 0);
  waiting_weights_.resize(room_ * groups_);
}

/// Every histogram takes the states in the order of the chain. What is below the bins is counted as
/// well: three of four values are, and which cannot be predicted.
void ArmSums::empty_waiting_room() {
  // Loops whose length the compiler knows: most studies have two groups of arms.
  if (groups_ == 2) {
    fill_histograms(std::integral_constant<std::size_t, 2>{});
  } else {
    fill_histograms(groups_);
  }
  waiting_ = 0;
}

template <class Groups>
void ArmSums::fill_histograms(Groups groups) {
  for (std::size_t from = 0; from < centre_.size(); from += parameters_at_once) {
    const std::size_t in_tile = from % tile;
    Arms* const counts = &counts_[from * rows * groups];
    const std::uint8_t* bins = waiting_bins(from - in_tile, 0) + in_tile;
    const Arms* weights = waiting_weights_.data();
    for (std::size_t place = 0; place < waiting_; ++place, bins += tile, weights += groups) {
      for (std::size_t i = 0; i < parameters_at_once; ++i) {
        Arms* const row = counts + (i * rows + bins[i]) * groups;
        for (std::size_t group = 0; group < groups; ++group) row[group].add(weights[group]);
      }
    }
  }
}

void ArmSums::estimate(std::size_t arm, Statistic statistic, std::span<double> out) {
  empty_waiting_room();
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
        out[i] = bins_.quantile_of(i, masses_[arm], [&](std::size_t bin) {
          return counts_[(i * rows + 1 + bin) * groups_ + arm / 8].of[arm % 8];
        });
        break;
    }
  }
}

}  // namespace rehmc::experiments
