// Quantiles of the numbers of several streams, by interpolation between the edges of bins.
#include "rehmc/running/pooled_bins.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/checks.hpp"

namespace rehmc {

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
    for (std::size_t bin = 0; bin < weights.size(); ++bin) {
      const double upper = bin + 1 == weights.size()
                               ? most
                               : std::clamp(stream->upper_edge(coordinate, bin), least, most);
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
