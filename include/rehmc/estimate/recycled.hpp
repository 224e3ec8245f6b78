// Mean, sd and quantiles with honest error bars, from plain draws and from recycled states.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "rehmc/estimate/convergence.hpp"
#include "rehmc/estimate/series.hpp"

namespace rehmc {

inline constexpr std::array<double, 7> standard_probabilities{0.025, 0.05, 0.25, 0.5,
                                                              0.75,  0.95, 0.975};

struct QuantileEstimate {
  double probability = 0;
  double value = 0;
  double mcse = 0;
  double ess = 0;
  double degrees = std::numeric_limits<double>::quiet_NaN();  ///< of freedom, of the MCSE
};

/// The estimates of one scalar, with their errors. Every mcse and ess is NaN unless the condition
/// is ordinary: chains that do not move contain no information about their errors, whatever ESS a
/// formula gives.
struct Estimate {
  double mean = 0;
  double mcse_mean = 0;
  double ess_mean = 0;
  double sd = 0;
  double mcse_sd = 0;
  double ess_sd = 0;
  std::vector<QuantileEstimate> quantiles;
  DrawsCondition condition = DrawsCondition::ordinary;
  /// Degrees of freedom of the MCSEs: few where few events of a run carry the error. NaN: unknown.
  double degrees_mean = std::numeric_limits<double>::quiet_NaN();
  double degrees_sd = std::numeric_limits<double>::quiet_NaN();
};

/// From the draws of the chains alone, by the definitions of convergence.hpp. The sd has the
/// divisor (number of draws - 1), quantiles are of type 7.
Estimate plain_estimate(Chains chains,
                        std::span<const double> probabilities = standard_probabilities);

/// The states that one chain kept for one scalar, draw after draw.
struct KeptStates {
  Series values;
  /// One for each value; only ratios within a draw matter. Empty: all states of a draw have equal
  /// weights.
  std::span<const double> weights;
  /// Where the states of each draw begin, followed by the number of values.
  std::span<const std::size_t> begins;
};

/// One scalar as recycling delivers it. Draw i has states x_ik with weights w_ik that sum to 1.
struct RecycledDraws {
  double centre = 0;
  Chains first;   ///< sum_k w_ik (x_ik - centre), from all states
  Chains second;  ///< sum_k w_ik (x_ik - centre)^2, from all states
  /// For quantiles, and for the fourth moment in ess_sd; none: no quantiles, and ess_sd is NaN.
  std::span<const KeptStates> kept;
  /// How much each draw counts, such as its number of steps if all states of paths of random length
  /// are to have equal weights (Nishimura & Dunson 2020, Theorem 2). None: all draws count the
  /// same.
  Chains mass;
};

/// Weighted averages over all states and draws. The average of f over the states of a draw, g_i, is
/// an ordinary stationary series of the chain, so
///   MCSE^2 = (long-run variance of g) / (number of draws) = Var(g) / ess_mean(g),
///   ESS    = Var(f over all states) / MCSE^2, that is, in units of independent draws.
///
/// mean: f = x.
/// sd (divisor: number of draws - 1): f = (x - mean)^2 / (2 sd), with Var(f) from the fourth moment
/// of the kept states.
/// Quantile q of the kept states: f = 1{x <= q} on them. The MCSE of q is that of f times the slope
/// of the quantile function, a difference quotient on the scale of normal scores; NaN for the
/// probabilities 0 and 1.
/// With masses m_i the estimate is a ratio of means, and its series m_i (g_i - mean) / mean(m).
///
/// If every draw has just its own state, all numbers are those of plain_estimate() but two: ess_sd,
/// for which posterior takes f = |x - mean|, and the MCSE of quantiles, for which it takes a
/// narrower, noisier difference quotient. To see what recycling gains, compare MCSEs.
///
/// Throws DataError if series and kept states do not fit together, or for weights or masses that
/// are negative or not finite; ConfigError for a probability outside [0, 1].
Estimate recycled_estimate(const RecycledDraws& draws,
                           std::span<const double> probabilities = standard_probabilities);

}  // namespace rehmc
