// Compares every state with several thresholds at once.
#include "rehmc/estimate/shares_below.hpp"

#include <algorithm>

namespace rehmc {

namespace {

// As many doubles as one register of the machine holds. Each threshold has a sum of its own, so
// that their number does not affect any bit.
#ifdef __AVX512F__
constexpr std::size_t lanes_of_shares = 8;
#else
constexpr std::size_t lanes_of_shares = 4;
#endif
using Lanes [[gnu::vector_size(lanes_of_shares * sizeof(double))]] = double;

}  // namespace

std::vector<double> shares_below(std::span<const double> states, std::span<const double> weights,
                                 std::span<const std::size_t> ends,
                                 std::span<const double> thresholds) {
  std::vector<double> shares(thresholds.size() * ends.size());
  for (std::size_t first = 0; first < thresholds.size(); first += lanes_of_shares) {
    const std::size_t count = std::min(lanes_of_shares, thresholds.size() - first);
    Lanes limits{};
    for (std::size_t t = 0; t < count; ++t) limits[t] = thresholds[first + t];
    std::size_t k = 0;
    for (std::size_t n = 0; n < ends.size(); ++n) {
      Lanes sums{};
      for (; k < ends[n]; ++k) sums += limits >= states[k] ? weights[k] + Lanes{} : Lanes{};
      for (std::size_t t = 0; t < count; ++t) shares[(first + t) * ends.size() + n] = sums[t];
    }
  }
  return shares;
}

}  // namespace rehmc
