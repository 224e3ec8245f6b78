// A multilevel regression whose intercepts vary by group, non-centred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/quantity.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

/// One entry per observation in each of the three.
struct GroupedData {
  std::vector<std::size_t> group;  ///< 1, ..., J, each at least once
  std::vector<double> x;
  std::vector<double> y;
};

struct VaryingInterceptsPriors {
  double location_sd = 10;  ///< of mu and beta
  double scale_sd = 10;     ///< of tau and sigma
};

/// y_i ~ N(alpha_j + beta x_i, sigma^2) for observation i of group j, alpha_j = mu + tau a_j with
/// a_j ~ N(0, 1); mu, beta ~ N(0, location_sd^2); tau, sigma ~ half-normal(0, scale_sd^2). Sampled
/// as (mu, beta, log tau, log sigma, a).
///
/// With the means xbar_j and ybar_j of its n_j observations, group j contributes to the sum of
/// squared residuals n_j (ybar_j - alpha_j - beta xbar_j)^2 and a part about these means that
/// depends on beta alone; all groups together have w + v (beta - b)^2 of that part. A gradient
/// therefore costs the same for any number of observations.
class VaryingIntercepts {
 public:
  /// DataError for no observations, unequal lengths, numbers that are not finite, or a group
  /// without observations; ConfigError for priors that are not positive and finite.
  explicit VaryingIntercepts(const GroupedData& data, const VaryingInterceptsPriors& priors = {});

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const;
  std::vector<std::string> names() const;  ///< mu, beta, log_tau, log_sigma, a.1, ...

  std::vector<Quantity> quantities() const;  ///< mu, beta, tau, sigma, a.1, ..., alpha.1, ...
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const;

 private:
  struct Groups;
  std::shared_ptr<const Groups> groups_;
};

/// Which data set to simulate; the defaults have the size of the radon measurements in Minnesota
/// (Gelman and Hill 2007, section 12.1).
struct VaryingInterceptsSimulation {
  std::size_t groups = 85;
  std::size_t observations = 919;
  std::uint64_t seed = 1;
};

/// Groups of very different size; x is 1 for about one observation in five and 0 for the others;
/// mu = 1.5, beta = -0.7, tau = 0.3, sigma = 0.75. ConfigError for no groups, or fewer observations
/// than groups.
GroupedData simulate_varying_intercepts(const VaryingInterceptsSimulation& simulation);

}  // namespace rehmc
