// Chooses the comparison of states with thresholds by the instructions in use.
#include "rehmc/estimate/shares_below.hpp"

#include "rehmc/core/variants.hpp"

namespace rehmc {

// Compiled from share_sums.hpp (cmake/Instructions.cmake).
#define REHMC_DECLARE(instructions)                                                                \
  namespace instructions {                                                                         \
  void sum_shares(const double* states, const double* weights, const std::size_t* ends,            \
                  std::size_t draws, const double* thresholds, std::size_t count, double* shares); \
  }
REHMC_DECLARE(baseline)
REHMC_DECLARE(avx2)
REHMC_DECLARE(avx512)
#undef REHMC_DECLARE

std::vector<double> shares_below(std::span<const double> states, std::span<const double> weights,
                                 std::span<const std::size_t> ends,
                                 std::span<const double> thresholds) {
  std::vector<double> shares(thresholds.size() * ends.size());
  REHMC_VARIANT_IN_USE(sum_shares)
  (states.data(), weights.data(), ends.data(), ends.size(), thresholds.data(), thresholds.size(),
   shares.data());
  return shares;
}

}  // namespace rehmc
