// Leave-one-out cross-validation from the log likelihoods of observations at draws.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "rehmc/estimate/series.hpp"

namespace rehmc {

/// What one observation contributes.
struct LooPoint {
  double elpd = 0;   ///< its expected log predictive density, given all other observations
  double lppd = 0;   ///< its log predictive density, given all observations
  double shape = 0;  ///< Pareto k of its importance ratios
};

/// Expected log predictive density for new observations, by Pareto-smoothed importance sampling:
/// Vehtari, Gelman, Gabry (2017), Statistics and Computing 27; Vehtari, Simpson, Gelman, Yao, Gabry
/// (2024), Journal of Machine Learning Research 25.
struct Loo {
  double elpd = 0;
  double error = 0;  ///< standard error of elpd, over observations
  double p_loo = 0;  ///< effective number of parameters
  std::vector<LooPoint> points;
  double good_shape = 0;           ///< shapes up to here are reliable for this many draws
  double relative_efficiency = 0;  ///< ESS of the likelihoods per draw, the mean over observations

  double worst_shape() const;
  std::size_t unreliable() const;  ///< observations with a larger shape than is good
};

/// Of one observation, from its log likelihoods at all draws.
LooPoint loo_of(std::span<const double> log_likelihoods, double relative_efficiency);

/// Of all observations, each with its log likelihoods, one series per chain. Not finite where they
/// are not.
Loo leave_one_out(const std::vector<std::vector<Series>>& observations);

}  // namespace rehmc
