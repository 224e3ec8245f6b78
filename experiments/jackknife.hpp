// Monte Carlo errors of anything computed from groups of chains: leave one group out at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace rehmc::experiments {

/// A number and its standard error.
struct Measured {
  double value = 0;
  double error = 0;
};

/// `compute(left_out)` gives the numbers without that group, or of all groups for left_out ==
/// groups. (Quenouille 1956; Efron & Stein 1981 show that the error is not too small on average.)
template <class Compute>
std::vector<Measured> jackknife(std::size_t groups, Compute&& compute) {
  const std::vector<double> whole = compute(groups);
  std::vector<Measured> result;
  for (const double value : whole) result.push_back({value, 0});
  std::vector<double> sums(whole.size());
  std::vector<double> squares(whole.size());
  for (std::size_t g = 0; g < groups; ++g) {
    const std::vector<double> without = compute(g);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const double difference = without[i] - whole[i];
      sums[i] += difference;
      squares[i] += difference * difference;
    }
  }
  const auto n = static_cast<double>(groups);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    result[i].error = std::sqrt((n - 1) / n * std::max(0.0, squares[i] - sums[i] * sums[i] / n));
  }
  return result;
}

}  // namespace rehmc::experiments
