// Convergence and precision of chains: R-hat, effective sample sizes, standard errors.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/series.hpp"

namespace rehmc {

// Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021), "Rank-normalization, folding, and
// localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16, in the
// exact form of the R package posterior 1.4.0, degenerate input included:
//
// NaN anywhere, or a scalar whose range is less than 2^-52: NaN. Infinite draws: NaN as well,
// except for rhat() and ess_bulk(), which only use ranks.
//
// Chains are split in halves; the middle draw of an odd number is left out. With 2 or 3 draws a
// half is a single draw, and posterior then treats the first draws of all chains as one chain and
// the last draws as another. These numbers mean little; check_draws() calls such draws too short.
//
// An ESS is at most S log10(S), S being the number of draws.
//
// All functions throw DataError when the chains differ in length, and ConfigError for a probability
// outside [0, 1].

/// The larger of the bulk and the tail (folded) rank-normalised split R-hat.
double rhat(Chains chains);

/// ESS for the centre of the distribution: that of the rank-normalised draws.
double ess_bulk(Chains chains);
/// The smaller ESS of the 5% and 95% quantiles.
double ess_tail(Chains chains);
/// ESS of the draws themselves, without ranks, eq. (5.1) of Nishimura & Dunson (2020): Geyer's
/// (1992) initial monotone sequence.
double ess_basic(Chains chains, bool split = true);
double ess_mean(Chains chains);
double ess_sd(Chains chains);

double mcse_mean(Chains chains);
double mcse_sd(Chains chains);
double mcse_quantile(Chains chains, double probability);

/// What is wrong with the draws of a scalar, if anything.
enum class DrawsCondition {
  ordinary,
  not_finite,  ///< some draw is NaN or infinite
  too_short,   ///< fewer than 4 draws per chain
  constant,    ///< no chain ever moves, and all sit at the same value
  /// Some chain never moves, but the draws differ; or it stays for at least ten draws and a tenth
  /// of its length on a value that occurs nowhere else. Quantiles may then be that value, and no
  /// error bar would show it.
  stuck,
};

struct DrawsCheck {
  DrawsCondition condition = DrawsCondition::ordinary;
  /// The chains that are not finite, or stuck.
  std::vector<std::size_t> chains;
};

/// Finds out why the functions above return NaN or strange numbers.
DrawsCheck check_draws(Chains chains);

/// The main diagnostics.
struct Convergence {
  double rhat = 0;
  double ess_bulk = 0;
  double ess_tail = 0;
  DrawsCheck check;
  /// ESS from correlations within half chains alone, the smaller of those of the bulk and of the
  /// distances from the median: how well the chains could agree. most_healthy_rhat() uses it.
  double ess_within = nan_value;
  /// Its degrees of freedom, if it comes from the scatter of sums over chunks.
  double degrees_within = std::numeric_limits<double>::infinity();
};

/// All of them at once: the draws are gathered and sorted only once.
Convergence convergence(Chains chains);

/// The worst of several scalars, NaN if nothing is known. Scalars that are constant and equal in
/// all chains are known exactly.
struct WorstConvergence {
  double rhat = nan_value;
  double ess = nan_value;  ///< the smaller of bulk and tail

  void add(const Convergence& scalar);
};

/// R-hat up to here is never too large (Vehtari et al. 2021).
inline constexpr double least_limit_of_rhat = 1.01;
/// The share of healthy runs in which some parameter exceeds its most_healthy_rhat().
inline constexpr double healthy_rhat_rate = 0.01;

/// A limit for R-hat that knows the length of the run: 1.01, or what healthy chains of this length
/// exceed if that is more. In 1% of healthy runs, some of the parameters exceed their limits. A
/// parameter's `ess_within` is of all chains together; `draws` are those of each chain. With an ESS
/// below five for each half chain the limit is 1.01.
double most_healthy_rhat(std::size_t chains, std::size_t draws, const Convergence& convergence,
                         std::size_t parameters);

/// The energy's Bayesian fraction of missing information of one chain, sum of squared changes over
/// sum of squared deviations (Betancourt 2016, arXiv:1604.00695); below 0.2 or 0.3 the momentum
/// resampling is too slow for the tails. NaN for fewer than 3 draws, for NaN or infinite ones, and
/// for constant energies.
double energy_bfmi(std::span<const double> energies);

}  // namespace rehmc
