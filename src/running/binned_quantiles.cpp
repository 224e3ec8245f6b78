// Sorts numbers into bins.
#include "rehmc/running/binned_quantiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

constexpr std::size_t bins = BinnedQuantiles::bins;
constexpr std::size_t tail_bins = 8;
constexpr std::size_t middle_bins = bins - 2 * tail_bins;
/// How far the middle reaches from the location: in scales, and in widths of its bins.
constexpr double middle_scales = 4;
constexpr double middle_reach = 0.5 * middle_bins;

/// The number of coordinates whose bins fit into the L1 cache for all states of a draw.
constexpr std::size_t block = 32;

/// The bin of a number that lies z widths above the location; NaN goes somewhere. Straight-line
/// code, which the compiler vectorises.
inline std::int32_t bin_of(double z) {
  const double distance = std::abs(z);
  // The tail bin t = 0, 1, ... holds 1 + (distance - reach) / 2 in [2^t, 2^(t + 1)). Written so
  // that NaN becomes the limit.
  constexpr double last = 1 << (tail_bins - 1);
  const double beyond = 0.5 * (distance - (middle_reach - 2));
  const double in_tail = beyond < last ? (beyond > 1 ? beyond : 1) : last;
  const auto exponent =
      static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(in_tail) >> 52) - 1023;
  constexpr auto first_above = static_cast<std::int32_t>(tail_bins + middle_bins);
  constexpr auto last_below = static_cast<std::int32_t>(tail_bins) - 1;
  const std::int32_t tail = z > 0 ? first_above + exponent : last_below - exponent;
  const bool in_middle = distance < middle_reach;
  const double safe = in_middle ? z : 0;
  const auto middle = static_cast<std::int32_t>(safe + (middle_reach + tail_bins));
  return in_middle ? middle : tail;
}

/// Where a bin ends, in widths from the location.
double upper_edge_in_widths(std::size_t bin) {
  const double side = bin < bins / 2 ? -1 : 1;
  // Edges mirror each other; the outermost lies beyond tail_bins - 1 closed bins.
  const std::size_t from_left = bin + 1;
  const std::size_t outward = side < 0 ? from_left : bins - from_left;
  if (outward >= tail_bins) {
    return static_cast<double>(from_left) - (middle_reach + static_cast<double>(tail_bins));
  }
  const auto closed_bins = static_cast<int>(tail_bins - outward);
  return side * (middle_reach + 2 * (std::exp2(closed_bins) - 1));
}

/// A scale that bins can have.
double usable_scale(double scale, double location) {
  const auto usable = [](double value) {
    return value > 0 && std::isfinite(value) && std::isfinite(middle_reach / value);
  };
  if (usable(scale)) return scale;
  return usable(std::abs(location)) ? std::abs(location) : 1;
}

}  // namespace

BinnedQuantiles::BinnedQuantiles(std::span<const double> location, std::span<const double> scale)
    : location_(location.begin(), location.end()),
      inverse_width_(location.size()),
      least_(location.size(), infinity),
      most_(location.size(), -infinity),
      weights_(location.size() * bins) {
  if (location.size() != scale.size()) {
    throw DataError(fmt::format("bins: found {} locations but {} scales, must be equally many",
                                location.size(), scale.size()));
  }
  for (std::size_t i = 0; i < location.size(); ++i) {
    if (!std::isfinite(location[i])) {
      throw DataError(fmt::format("bins: location {} is {}, must be finite", i + 1, location[i]));
    }
    inverse_width_[i] = middle_reach / (middle_scales * usable_scale(scale[i], location[i]));
  }
}

void BinnedQuantiles::add(double weight, std::span<const double> x) {
  const WeightedState state{{x, {}, 0}, weight};
  add({&state, 1});
}

void BinnedQuantiles::add(std::span<const WeightedState> states, double factor) {
  const std::size_t d = dimension();
  std::array<std::int32_t, block> bin;
  for (std::size_t begin = 0; begin < d; begin += block) {
    const std::size_t size = std::min(block, d - begin);
    const double* const location = location_.data() + begin;
    const double* const inverse_width = inverse_width_.data() + begin;
    double* const least = least_.data() + begin;
    double* const most = most_.data() + begin;
    double* const weights = weights_.data() + begin * bins;
    for (const WeightedState& state : states) {
      const double* const x = state.state.position.data() + begin;
      const double weight = factor * state.weight;
      if (!(weight > 0)) continue;
      hot_loop([=, to = bin.data()] {
#pragma omp simd
        for (std::size_t i = 0; i < size; ++i) {
          to[i] = bin_of((x[i] - location[i]) * inverse_width[i]);
          least[i] = x[i] < least[i] ? x[i] : least[i];
          most[i] = x[i] > most[i] ? x[i] : most[i];
        }
      });
      for (std::size_t i = 0; i < size; ++i) {
        // 0 x is NaN for a number that is not finite, and makes this coordinate NaN as it should.
        weights[i * bins + static_cast<std::size_t>(bin[i])] += weight + 0 * x[i];
      }
    }
  }
}

double BinnedQuantiles::upper_edge(std::size_t coordinate, std::size_t bin) const {
  return location_[coordinate] + upper_edge_in_widths(bin) / inverse_width_[coordinate];
}

bool BinnedQuantiles::is_whole(std::size_t dimension) const {
  return location_.size() == dimension && inverse_width_.size() == dimension &&
         least_.size() == dimension && most_.size() == dimension &&
         weights_.size() == dimension * bins;
}

std::size_t BinnedQuantiles::bytes() const {
  return sizeof(double) * (location_.capacity() + inverse_width_.capacity() + least_.capacity() +
                           most_.capacity() + weights_.capacity());
}

}  // namespace rehmc
