// Smooths the largest importance ratios, then sums.
#include "rehmc/estimate/loo.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/pareto.hpp"

namespace rehmc {

namespace {

/// Replaces the largest of some ratios, whose logarithms are given relative to the largest of all,
/// by quantiles of the law that fits them. Returns its shape; +inf if there are too few.
double smooth(std::vector<double>& logs, double relative_efficiency) {
  const auto n = static_cast<double>(logs.size());
  const auto tail = static_cast<std::size_t>(
      std::ceil(std::min(0.2 * n, 3 * std::sqrt(n / relative_efficiency))));
  constexpr std::size_t fewest = 5;
  if (tail < fewest || tail + 1 > logs.size()) return std::numeric_limits<double>::infinity();
  std::vector<std::size_t> order(logs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto cut = order.end() - static_cast<std::ptrdiff_t>(tail) - 1;
  std::nth_element(order.begin(), cut, order.end(),
                   [&](std::size_t a, std::size_t b) { return logs[a] < logs[b]; });
  const double threshold = std::max(logs[*cut], std::log(std::numeric_limits<double>::min()));
  std::vector<std::size_t> largest;
  std::copy_if(cut, order.end(), std::back_inserter(largest),
               [&](std::size_t k) { return logs[k] > threshold; });
  if (largest.size() < fewest) return std::numeric_limits<double>::infinity();
  std::sort(largest.begin(), largest.end(),
            [&](std::size_t a, std::size_t b) { return logs[a] < logs[b]; });
  const double lowest = std::exp(threshold);
  std::vector<double> excesses;
  for (const std::size_t k : largest) excesses.push_back(std::exp(logs[k]) - lowest);

  constexpr std::size_t fewest_points = 30;
  const ParetoFit fit = fit_pareto(excesses, fewest_points);
  // A weak prior: as if ten more had the shape 1/2.
  const auto count = static_cast<double>(largest.size());
  const double shape = (count * fit.shape + 10 * 0.5) / (count + 10);
  if (!std::isfinite(shape) || !(fit.scale > 0)) return shape;
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const double rest = std::log1p(-(static_cast<double>(i) + 0.5) / count);
    const double excess = std::abs(shape) < std::numeric_limits<double>::epsilon()
                              ? -rest
                              : std::expm1(-shape * rest) / shape;
    logs[largest[i]] = std::min(0.0, std::log(fit.scale * excess + lowest));
  }
  return shape;
}

double likelihood_efficiency(const std::vector<Series>& chains, EffectiveSize& effective_size) {
  const ChainTable table = gather(chains);
  const double most = *std::max_element(table.values.begin(), table.values.end());
  const double draws = static_cast<double>(table.values.size());
  return effective_size.of_split(transformed(table, [most](double x) {
    return std::exp(x - most);
  })) / draws;
}

}  // namespace

double Loo::worst_shape() const {
  double worst = -std::numeric_limits<double>::infinity();
  for (const LooPoint& point : points) worst = std::max(worst, point.shape);
  return worst;
}

std::size_t Loo::unreliable() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(),
                    [&](const LooPoint& point) { return !(point.shape <= good_shape); }));
}

LooPoint loo_of(std::span<const double> log_likelihoods, double relative_efficiency) {
  LooPoint point;
  const auto draws = static_cast<double>(log_likelihoods.size());
  point.lppd = log_sum_exp(log_likelihoods) - std::log(draws);
  const double least = *std::min_element(log_likelihoods.begin(), log_likelihoods.end());
  std::vector<double> logs;
  for (const double value : log_likelihoods) logs.push_back(least - value);
  if (!std::all_of(logs.begin(), logs.end(), [](double x) { return std::isfinite(x); })) {
    return {nan_value, nan_value, nan_value};
  }
  point.shape = smooth(logs, relative_efficiency);
  const double total = log_sum_exp(logs);
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += log_likelihoods[i] - total;
  point.elpd = log_sum_exp(logs);
  return point;
}

Loo leave_one_out(const std::vector<std::vector<Series>>& observations) {
  Loo loo;
  EffectiveSize effective_size;
  double draws = 0;
  std::size_t known = 0;
  for (const std::vector<Series>& chains : observations) {
    const double efficiency = likelihood_efficiency(chains, effective_size);
    // A likelihood that does not vary says nothing of the draws.
    if (!std::isfinite(efficiency)) continue;
    loo.relative_efficiency += efficiency;
    ++known;
  }
  loo.relative_efficiency = known > 0 ? loo.relative_efficiency / static_cast<double>(known) : 1;
  double lppd = 0;
  for (const std::vector<Series>& chains : observations) {
    const ChainTable table = gather(chains);
    draws = static_cast<double>(table.values.size());
    loo.points.push_back(loo_of(table.values, loo.relative_efficiency));
    loo.elpd += loo.points.back().elpd;
    lppd += loo.points.back().lppd;
  }
  loo.p_loo = lppd - loo.elpd;
  const auto count = static_cast<double>(observations.size());
  double squares = 0;
  for (const LooPoint& point : loo.points) {
    squares += (point.elpd - loo.elpd / count) * (point.elpd - loo.elpd / count);
  }
  loo.error = std::sqrt(squares);
  loo.good_shape = std::min(1 - 1 / std::log10(draws), 0.7);
  return loo;
}

}  // namespace rehmc
