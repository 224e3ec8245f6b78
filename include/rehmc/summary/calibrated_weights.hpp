// Weights of a run's states that sharpen whatever is computed with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// One positive weight for every kept state, chain after chain; they sum to 1.
struct CalibratedWeights {
  std::vector<double> weights;
  std::size_t features = 0;  ///< functions of mean 0 that average to 0 with these weights
  /// How many states with equal weights they are worth by themselves, 1 / sum of squares (Kish
  /// 1965): small if a few states carry most of the weight.
  double effective_states = 0;
};

/// For a density with gradient g of its logarithm, the functions g_i and (x_i - c_i) g_i + 1 have
/// mean 0 (Stein's identity). Of all weights with which they average to 0 over the kept states,
/// these are nearest to the states' own in relative entropy (Hainmueller 2012, Entropy balancing):
/// proportional to own * exp(lambda . features). Each feature adds a bias of the order of one over
/// the number of draws; so there is at most one for every 20 draws, and those of second degree are
/// left out where there would be more.
///
/// DataError if gradients are unknown, if there are too few draws or if there are no such weights.
CalibratedWeights calibrated_weights(const SampleResult& result);

/// Places drawn with these probabilities, one for each of `count` equal shares of the sum:
/// systematic sampling. ConfigError for a count of 0.
std::vector<std::size_t> systematic_places(const std::vector<double>& weights, std::size_t count,
                                           std::uint64_t seed);

}  // namespace rehmc
