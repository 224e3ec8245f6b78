// Moments, probabilities and quantiles of a tabulated log density.
#include "marginal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "rehmc/core/numerics.hpp"

namespace rehmc::bench {

namespace {

constexpr double rare = 1e-3;
constexpr int bisections = 60;
/// Nodes and weights of the Gauss-Legendre rule of order 6 on [-1, 1].
constexpr std::array<double, 3> gauss_nodes{0.2386191860831969, 0.6612093864662645,
                                            0.9324695142031521};
constexpr std::array<double, 3> gauss_weights{0.4679139345726910, 0.3607615730481386,
                                              0.1713244923791704};
/// Points through which a polynomial interpolates.
constexpr std::size_t stencil = 8;
/// Fewer points of a density are interpolated to about so many.
constexpr std::size_t enough_points = 800;

/// The root of a rising function.
template <class Function>
double root(Function&& function, double low, double high) {
  for (int step = 0; step < bisections; ++step) {
    const double middle = (low + high) / 2;
    (function(middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Marginal::Marginal(double low, double step, const std::vector<double>& log_density)
    : low_(low), step_(step) {
  const double log_sum = log_sum_exp(log_density) + std::log(step);
  for (const double value : log_density) density_.push_back(std::exp(value - log_sum));
  constexpr double negligible = 1e-12;
  if (!((density_.front() + density_.back()) * step_ < negligible)) {
    throw std::runtime_error(
        fmt::format("a tabulated density on [{}, {}] does not vanish at its ends", low_, end()));
  }
  for (std::size_t i = 0; i < density_.size(); ++i) {
    mean_ += step_ * density_[i] * (low_ + step_ * static_cast<double>(i));
  }
  for (std::size_t i = 0; i < density_.size(); ++i) {
    const double deviation = low_ + step_ * static_cast<double>(i) - mean_;
    variance_ += step_ * density_[i] * deviation * deviation;
  }
  refine();
  cumulative_.push_back(0);
  for (std::size_t i = 0; i + 1 < density_.size(); ++i) {
    const double begin = low_ + step_ * static_cast<double>(i);
    cumulative_.push_back(cumulative_.back() + within_cell(begin, begin + step_, 0));
  }
}

void Marginal::refine() {
  const std::size_t factor = (enough_points + density_.size() - 1) / density_.size();
  if (factor <= 1) return;
  std::vector<double> finer;
  for (std::size_t i = 0; i <= factor * (density_.size() - 1); ++i) {
    if (i % factor == 0) {
      finer.push_back(density_[i / factor]);
      continue;
    }
    double sum = 0;
    for (std::size_t k = 0; k < density_.size(); ++k) {
      const double distance =
          std::numbers::pi *
          (static_cast<double>(i) / static_cast<double>(factor) - static_cast<double>(k));
      sum += density_[k] * std::sin(distance) / distance;
    }
    finer.push_back(sum);
  }
  density_ = std::move(finer);
  step_ /= static_cast<double>(factor);
}

double Marginal::end() const { return low_ + step_ * static_cast<double>(density_.size() - 1); }

double Marginal::sd() const { return std::sqrt(variance_); }

double Marginal::density(double value) const {
  const double place = (value - low_) / step_;
  const double first_of_stencil = std::floor(place) - static_cast<double>(stencil / 2 - 1);
  const auto first = static_cast<std::size_t>(
      std::clamp(first_of_stencil, 0.0, static_cast<double>(density_.size() - stencil)));
  double sum = 0;
  for (std::size_t i = 0; i < stencil; ++i) {
    double factor = density_[first + i];
    for (std::size_t j = 0; j < stencil; ++j) {
      if (j == i) continue;
      factor *= (place - static_cast<double>(first + j)) /
                (static_cast<double>(i) - static_cast<double>(j));
    }
    sum += factor;
  }
  return sum;
}

double Marginal::within_cell(double from, double to, int power) const {
  double sum = 0;
  const double half = (to - from) / 2;
  for (std::size_t k = 0; k < gauss_nodes.size(); ++k) {
    for (const double sign : {-1.0, 1.0}) {
      const double x = (from + to) / 2 + sign * half * gauss_nodes[k];
      sum += gauss_weights[k] * density(x) * std::pow(x - mean_, power);
    }
  }
  return sum * half;
}

double Marginal::integral(double from, double to, int power) const {
  from = std::max(from, low_);
  to = std::min(to, end());
  double sum = 0;
  while (from < to) {
    const double next = low_ + step_ * (std::floor((from - low_) / step_ + 1e-9) + 1);
    sum += within_cell(from, std::min(next, to), power);
    from = next;
  }
  return sum;
}

double Marginal::cumulative(double value) const {
  if (value <= low_) return 0;
  if (value >= end()) return 1;
  const auto cell = static_cast<std::size_t>((value - low_) / step_);
  const double begin = low_ + step_ * static_cast<double>(cell);
  return (cumulative_[cell] + within_cell(begin, value, 0)) / cumulative_.back();
}

double Marginal::quantile(double probability) const {
  return root([&](double x) { return cumulative(x) - probability; }, low_, end());
}

double Marginal::rare_share() const {
  const double limit =
      root([&](double c) { return rare - (1 - cumulative(mean_ + c) + cumulative(mean_ - c)); }, 0,
           std::max(mean_ - low_, end() - mean_));
  return 1 - integral(mean_ - limit, mean_ + limit, 2) / variance_;
}

ExactValues Marginal::values() const {
  ExactValues values{mean(), sd(), {}, rare_share()};
  for (std::size_t q = 0; q < values.quantiles.size(); ++q) {
    values.quantiles[q] = quantile(standard_probabilities[q]);
  }
  return values;
}

Marginal mixture_of_normals(std::span<const NormalPart> parts, std::size_t points) {
  constexpr double reach = 9;
  double most = 0;
  for (const NormalPart& part : parts) most = std::max(most, part.weight);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::vector<NormalPart> used;
  for (const NormalPart& part : parts) {
    if (part.weight < 1e-18 * most) continue;
    used.push_back(part);
    low = std::min(low, part.mean - reach * part.sd);
    high = std::max(high, part.mean + reach * part.sd);
  }
  const double step = (high - low) / static_cast<double>(points - 1);
  std::vector<double> logs;
  for (std::size_t i = 0; i < points; ++i) {
    const double x = low + step * static_cast<double>(i);
    double sum = 0;
    for (const NormalPart& part : used) {
      const double z = (x - part.mean) / part.sd;
      sum += part.weight / part.sd * std::exp(-0.5 * z * z);
    }
    logs.push_back(std::log(std::max(sum, 1e-300)));
  }
  return Marginal(low, step, std::move(logs));
}

}  // namespace rehmc::bench
