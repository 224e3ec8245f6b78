// Counts in twelve groups whose log odds vary little, by an amount that the data hardly tell.
#pragma once

#include <span>

#include "exact_target.hpp"

namespace rehmc::bench {

/// y_j ~ Binomial(n_j, 1 / (1 + exp(-theta_j))), theta_j ~ N(mu, tau), mu ~ N(-2, 1.5),
/// log tau ~ N(log 0.3, 0.7). Coordinates: mu, log tau, theta_1, ..., theta_12. The data were
/// simulated with mu = -2.2 and tau = 0.3.
class BinomialGroups {
 public:
  static constexpr std::size_t groups = 12;

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return 2 + groups; }
};

ExactTarget binomial_groups(double fineness);

}  // namespace rehmc::bench
