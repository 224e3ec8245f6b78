// Ratios of mean squared errors, and jackknife errors over groups of chains.
#include "experiments/gains.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace rehmc::experiments {

namespace {

double log2_ratio(double plain, double recycled) { return std::log2(plain / recycled); }

double mean_log2_of(const std::vector<float>& plain, const std::vector<float>& recycled) {
  double sum = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) sum += log2_ratio(plain[i], recycled[i]);
  return sum / static_cast<double>(plain.size());
}

/// Mean over parameters of one over the squared error: proportional to the average ESS, because
/// errors are in units of a single draw's.
double mean_precision(const std::vector<float>& squares) {
  double sum = 0;
  for (const float square : squares) sum += 1 / static_cast<double>(square);
  return sum / static_cast<double>(squares.size());
}

}  // namespace

Gains::Gains(const Study& study) : study_(study) {
  for (const ErrorSums& group : study.groups) total_.add(group);
  for (std::size_t g = 0; g < study.groups.size(); ++g) {
    ErrorSums& rest = without_.emplace_back();
    for (std::size_t other = 0; other < study.groups.size(); ++other) {
      if (other != g) rest.add(study.groups[other]);
    }
  }
}

std::vector<Measured> Gains::mean_log2(std::size_t arm) const {
  return jackknife(without_.size(), [&](std::size_t out) {
    const ErrorSums& sums = out < without_.size() ? without_[out] : total_;
    std::vector<double> values;
    for (std::size_t s = 0; s < statistics; ++s) {
      values.push_back(mean_log2_of(sums.arms[0][s], sums.arms[arm][s]));
    }
    return values;
  });
}

std::vector<Measured> Gains::mean_log2_at(std::size_t length, std::size_t arm) const {
  return jackknife(without_.size(), [&](std::size_t out) {
    const auto& arms = (out < without_.size() ? without_[out] : total_).lengths[length];
    std::vector<double> values;
    for (std::size_t s = 0; s < statistics; ++s) {
      values.push_back(mean_log2_of(arms[0][s], arms[arm][s]));
    }
    return values;
  });
}

std::vector<Measured> Gains::log2_by_parameter(std::size_t arm, Statistic statistic) const {
  const auto s = static_cast<std::size_t>(statistic);
  return jackknife(without_.size(), [&](std::size_t out) {
    const ErrorSums& sums = out < without_.size() ? without_[out] : total_;
    std::vector<double> values;
    for (std::size_t i = 0; i < sums.arms[0][s].size(); ++i) {
      values.push_back(log2_ratio(sums.arms[0][s][i], sums.arms[arm][s][i]));
    }
    return values;
  });
}

std::vector<double> Gains::log2_short(Statistic statistic) const {
  const auto s = static_cast<std::size_t>(statistic);
  const auto& arms = total_.lengths.front();
  std::vector<double> values;
  for (std::size_t i = 0; i < arms[0][s].size(); ++i) {
    values.push_back(log2_ratio(arms[0][s][i], arms[1][s][i]));
  }
  return values;
}

std::vector<double> Gains::ess_per_iteration(std::size_t arm, Statistic statistic) const {
  std::vector<double> values;
  for (const float sum : total_.arms[arm][static_cast<std::size_t>(statistic)]) {
    // The squared error of N independent draws would be 1/N.
    const double mean_square = static_cast<double>(sum) / total_.chains;
    values.push_back(1 / mean_square / static_cast<double>(study_.iterations));
  }
  return values;
}

Measured Gains::share(std::size_t arm, std::size_t of, std::size_t first, std::size_t end) const {
  return jackknife(without_.size(),
                   [&](std::size_t out) {
                     const ErrorSums& sums = out < without_.size() ? without_[out] : total_;
                     double sum = 0;
                     for (std::size_t s = first; s < end; ++s) {
                       sum += mean_precision(sums.arms[arm][s]) / mean_precision(sums.arms[of][s]);
                     }
                     return std::vector<double>{sum / static_cast<double>(end - first)};
                   })
      .front();
}

Measured Gains::log2_over(std::size_t arm, std::size_t other, Statistic statistic) const {
  const auto s = static_cast<std::size_t>(statistic);
  return jackknife(
             without_.size(),
             [&](std::size_t out) {
               const ErrorSums& sums = out < without_.size() ? without_[out] : total_;
               return std::vector<double>{mean_log2_of(sums.arms[other][s], sums.arms[arm][s])};
             })
      .front();
}

Gains::Component Gains::component(std::size_t length, ComponentQuantity quantity) const {
  const auto q = static_cast<std::size_t>(quantity);
  const auto log2 = jackknife(without_.size(), [&](std::size_t out) {
    const auto& arms = (out < without_.size() ? without_[out] : total_).components[length];
    return std::vector<double>{log2_ratio(arms[0][q], arms[1][q])};
  });
  const auto& arms = total_.components[length];
  return {log2.front(), std::sqrt(arms[0][q] / total_.component_chains),
          std::sqrt(arms[1][q] / total_.component_chains)};
}

Measured Gains::worst_mixing(std::size_t arm, Statistic statistic) const {
  const auto s = static_cast<std::size_t>(statistic);
  const std::vector<double> plain = ess_per_iteration(0, statistic);
  std::vector<std::size_t> order(plain.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return plain[a] < plain[b]; });
  order.resize(std::max<std::size_t>(1, order.size() / 10));
  return jackknife(without_.size(),
                   [&](std::size_t out) {
                     const ErrorSums& sums = out < without_.size() ? without_[out] : total_;
                     double sum = 0;
                     for (const std::size_t i : order) {
                       sum += log2_ratio(sums.arms[0][s][i], sums.arms[arm][s][i]);
                     }
                     return std::vector<double>{sum / static_cast<double>(order.size())};
                   })
      .front();
}

Gains::Signs Gains::signs(std::size_t arm, Statistic statistic, double errors) const {
  Signs signs{0, 0};
  const std::vector<Measured> ratios = log2_by_parameter(arm, statistic);
  for (const Measured& ratio : ratios) {
    signs.above += ratio.value > errors * ratio.error;
    signs.below += ratio.value < -errors * ratio.error;
  }
  signs.above /= static_cast<double>(ratios.size());
  signs.below /= static_cast<double>(ratios.size());
  return signs;
}

std::size_t Gains::arm(Family family, std::size_t count) const {
  const auto found = std::find(study_.arms.begin(), study_.arms.end(), Arm{family, count});
  if (found == study_.arms.end()) throw std::logic_error("no such arm");
  return static_cast<std::size_t>(found - study_.arms.begin());
}

}  // namespace rehmc::experiments
