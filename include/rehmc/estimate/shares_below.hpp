// How much of the weight of every draw lies at or below thresholds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehmc {

/// For each threshold, one after the other, the sums over every draw's states of the weights of
/// those at or below it. `ends`: where the states of every draw end.
std::vector<double> shares_below(std::span<const double> states, std::span<const double> weights,
                                 std::span<const std::size_t> ends,
                                 std::span<const double> thresholds);

}  // namespace rehmc
