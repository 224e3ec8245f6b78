// Fits the time at which trajectories turn, and weighs cost against acceptance.
#include "tree_cost.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

constexpr std::array spreads{0.02, 0.05, 0.1, 0.2, 0.4, 0.8};
constexpr int medians = 80;
constexpr std::size_t candidates = 57;
/// The longest step about the best one that differs from it by less: below a boundary, much more is
/// lost than above it.
constexpr double margin = 0.05;
/// For the shortest step instead, where long ones are risky.
constexpr double cautious_margin = 0.02;
/// A metric makes a density resemble a standard normal one, whose trajectories turn after pi: the
/// logarithm of their median has a Cauchy distribution about that, of this scale.
constexpr double prior_scale = 0.2;

double full_tree(int depth) { return std::ldexp(1.0, depth) - 1; }

/// The logarithm of the time of turning lies between these.
struct Interval {
  double low;
  double high;
};

Interval interval(const StepTrial& trial, int max_depth) {
  const auto last = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(trial.leapfrogs)));
  const double high = last < max_depth ? std::log(full_tree(last) * trial.step_size)
                                       : std::numeric_limits<double>::infinity();
  return {std::log(full_tree(last - 1) * trial.step_size), high};
}

}  // namespace

TreeCost::TreeCost(std::span<const StepTrial> trials, int max_depth) : max_depth_(max_depth) {
  std::vector<Interval> intervals;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const StepTrial& trial : trials) {
    if (trial.diverged()) continue;
    intervals.push_back(interval(trial, max_depth));
    // Medians worth a look, on the scale of the steps tried.
    const double end = std::log(trial.leapfrogs * trial.step_size);
    low = std::min(low, end - std::numbers::ln2);
    high = std::max(high, end + std::numbers::ln2);
  }
  if (intervals.empty()) return;
  double best = -std::numeric_limits<double>::infinity();
  for (const double sd : spreads) {
    for (int m = 0; m < medians; ++m) {
      const double median = low + (high - low) * m / (medians - 1);
      const double offset = (median - std::log(std::numbers::pi)) / prior_scale;
      double log_likelihood = -std::log1p(offset * offset);
      for (const Interval& i : intervals) {
        const double share = normal_cdf((i.high - median) / sd) - normal_cdf((i.low - median) / sd);
        log_likelihood += std::log(std::max(share, 1e-6));
      }
      times_.push_back({median, sd, log_likelihood});
      best = std::max(best, log_likelihood);
    }
  }
  double sum = 0;
  for (Time& time : times_) sum += time.weight = std::exp(time.weight - best);
  for (Time& time : times_) time.weight /= sum;
}

double TreeCost::leapfrogs(double step_size) const {
  double expected = 0;
  for (const Time& time : times_) {
    double shorter = 0;
    double cost = 0;
    for (int depth = 1; depth <= max_depth_; ++depth) {
      const double ended =
          depth == max_depth_
              ? 1
              : normal_cdf((std::log(full_tree(depth) * step_size) - time.log_median) / time.sd);
      cost += (ended - shorter) * full_tree(depth);
      shorter = ended;
      if (ended > 1 - 1e-9) break;
    }
    expected += time.weight * cost;
  }
  return expected;
}

double most_efficient_step_size(const StepRequest& request, const TreeCost& cost) {
  if (!cost.known()) return request.fitted;
  // On the curve 2 Phi(-x), x grows with e^2, and d log a / d log e = -4 x phi(x) / a.
  const double x = -normal_quantile(0.5 * request.acceptance);
  const double phi = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
  const double power = request.acceptance / (4 * x * phi);
  const double most_factor = request.cautious ? 1 : most_step_factor;
  std::array<double, candidates> factors{};
  std::array<double, candidates> efficiency{};
  for (std::size_t i = 0; i < candidates; ++i) {
    const double place = static_cast<double>(i) / (candidates - 1);
    const double f = least_step_factor * std::pow(most_factor / least_step_factor, place);
    factors[i] = f;
    efficiency[i] =
        power * std::log(2 * normal_cdf(-x * f * f)) - std::log(cost.leapfrogs(f * request.fitted));
  }
  const auto best =
      static_cast<std::size_t>(std::ranges::max_element(efficiency) - efficiency.begin());
  const double slack = request.cautious ? cautious_margin : margin;
  const auto good = [&](std::size_t i) { return efficiency[i] > efficiency[best] - slack; };
  std::size_t chosen = best;
  if (request.cautious) {
    while (chosen > 0 && good(chosen - 1)) --chosen;
  } else {
    while (chosen + 1 < candidates && good(chosen + 1)) ++chosen;
  }
  return factors[chosen] * request.fitted;
}

}  // namespace rehmc
