// Quantiles of streams from histograms with fixed bins.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "rehmc/core/error.hpp"
#include "rehmc/estimate/checks.hpp"
#include "rehmc/running/running.hpp"

namespace rehmc {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

constexpr std::size_t bins = BinnedQuantiles::bins;
constexpr std::size_t tail_bins = 8;
constexpr std::size_t middle_bins = bins - 2 * tail_bins;
/// How far the middle reaches from the location: in scales, and in widths of its bins.
constexpr double middle_scales = 4;
constexpr double middle_reach = 0.5 * middle_bins;

/// So many coordinates at a time that their bins stay in the first cache for all states of a draw.
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

/// A scale that bins can be laid by.
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
    throw DataError(fmt::format("bins: found {} locations but {} scales, must be as many",
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
#pragma omp simd
      for (std::size_t i = 0; i < size; ++i) {
        bin[i] = bin_of((x[i] - location[i]) * inverse_width[i]);
        least[i] = x[i] < least[i] ? x[i] : least[i];
        most[i] = x[i] > most[i] ? x[i] : most[i];
      }
      for (std::size_t i = 0; i < size; ++i) {
        // 0 x is NaN for a number that is not finite, and spoils this coordinate as it should.
        weights[i * bins + static_cast<std::size_t>(bin[i])] += weight + 0 * x[i];
      }
    }
  }
}

double BinnedQuantiles::upper_edge(std::size_t coordinate, std::size_t bin) const {
  return location_[coordinate] + upper_edge_in_widths(bin) / inverse_width_[coordinate];
}

std::size_t BinnedQuantiles::bytes() const {
  return sizeof(double) * (location_.capacity() + inverse_width_.capacity() + least_.capacity() +
                           most_.capacity() + weights_.capacity());
}

// The slopes of Fritsch and Carlson (1980), SIAM Journal on Numerical Analysis 17: those of the
// parabola through three nodes, made so small that the interpolant cannot fall anywhere.
void PooledBins::set_slopes(std::span<Node> nodes) {
  if (nodes.size() < 2) return;
  const auto secant = [&](std::size_t k) {
    return (nodes[k + 1].weight - nodes[k].weight) / (nodes[k + 1].x - nodes[k].x);
  };
  const std::size_t last = nodes.size() - 1;
  nodes[0].slope = secant(0);
  nodes[last].slope = secant(last - 1);
  for (std::size_t k = 1; k < last; ++k) {
    const double before = nodes[k].x - nodes[k - 1].x;
    const double after = nodes[k + 1].x - nodes[k].x;
    nodes[k].slope = (after * secant(k - 1) + before * secant(k)) / (before + after);
  }
  for (std::size_t k = 0; k < last; ++k) {
    const double steepest = 3 * secant(k);
    const double steepness =
        std::sqrt(nodes[k].slope * nodes[k].slope + nodes[k + 1].slope * nodes[k + 1].slope);
    if (steepness <= steepest) continue;
    nodes[k].slope *= steepest / steepness;
    nodes[k + 1].slope *= steepest / steepness;
  }
}

void PooledBins::merge_new(std::vector<Step>& steps, std::ptrdiff_t known) {
  std::inplace_merge(steps.begin(), steps.begin() + known, steps.end(),
                     [](const Step& a, const Step& b) { return a.x < b.x; });
}

PooledBins::PooledBins(std::span<const BinnedQuantiles* const> streams, std::size_t coordinate) {
  for (const BinnedQuantiles* const stream : streams) {
    const auto weights = stream->weights(coordinate);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    weight_ += total;
    if (!(total > 0)) continue;  // no numbers, or some that are not finite
    const double least = stream->least(coordinate);
    const double most = stream->most(coordinate);
    std::vector<Node>& nodes = streams_.emplace_back();
    nodes.push_back({least, 0, 0});
    const auto known_steps = static_cast<std::ptrdiff_t>(starts_.size());
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double upper =
          bin + 1 == bins ? most : std::clamp(stream->upper_edge(coordinate, bin), least, most);
      const Node lower = nodes.back();
      if (weights[bin] > 0) {
        starts_.push_back({lower.x, weights[bin]});
        ends_.push_back({upper, weights[bin]});
      }
      const double below = lower.weight + weights[bin];
      if (upper > lower.x) {
        nodes.push_back({upper, below, 0});
      } else {
        nodes.back().weight = below;  // outside of the numbers, or all of them at one place
      }
    }
    set_slopes(nodes);
    merge_new(starts_, known_steps);
    merge_new(ends_, known_steps);
  }
}

double PooledBins::weight_below(double x) const {
  double sum = 0;
  for (const std::vector<Node>& nodes : streams_) {
    const auto right =
        std::upper_bound(nodes.begin(), nodes.end(), x,
                         [](double value, const Node& node) { return value < node.x; });
    if (right == nodes.begin()) continue;
    const Node& a = *(right - 1);
    if (right == nodes.end()) {
      sum += a.weight;
      continue;
    }
    // The cubic of Hermite.
    const Node& b = *right;
    const double width = b.x - a.x;
    const double t = (x - a.x) / width;
    const double u = 1 - t;
    sum += a.weight + (b.weight - a.weight) * t * t * (3 - 2 * t) +
           width * t * u * (a.slope * u - b.slope * t);
  }
  return sum;
}

// The Illinois variant of the rule of false position; halves the interval where the weight jumps.
double PooledBins::where_reaches(double target, double low, double high) const {
  const double enough = 1e-9 * (high - low);  // far below any error
  double low_excess = weight_below(low) - target;
  double high_excess = weight_below(high) - target;
  for (int step = 0; step < 60 && high - low > enough; ++step) {
    const double share = low_excess / (low_excess - high_excess);
    const bool inside = step % 4 != 3 && share > 0 && share < 1;
    const double x = low + (inside ? share : 0.5) * (high - low);
    const double excess = weight_below(x) - target;
    if (excess < 0) {
      low = x;
      low_excess = excess;
      high_excess *= 0.5;
    } else {
      high = x;
      high_excess = excess;
      low_excess *= 0.5;
    }
  }
  return high;
}

double PooledBins::cumulative(double x) const { return weight_below(x) / weight_; }

BinnedQuantile PooledBins::quantile(double probability) const {
  require_probability(probability);
  if (!(weight_ > 0)) return {nan_value, nan_value};
  const double target = probability * weight_;
  // Left of the place where the weight reaches the target even if all of it lies at the lower edges
  // of its bins, the stream's quantile cannot be; nor right of where it does so from upper edges.
  const auto reach = [&](const std::vector<Step>& steps) {
    double sum = 0;
    for (const Step& step : steps) {
      sum += step.weight;
      if (sum >= target) return step.x;
    }
    return steps.back().x;
  };
  const double lowest = reach(starts_);
  const double highest = std::max(lowest, reach(ends_));
  const double value = where_reaches(target, lowest, highest);
  return {value, std::max(value - lowest, highest - value)};
}

}  // namespace rehmc
