// All built-in targets, by name, for tests that treat them equally.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/banana.hpp"
#include "models/correlated_normal.hpp"
#include "models/cox_process.hpp"
#include "models/diagonal_normal.hpp"
#include "models/eight_schools.hpp"
#include "models/funnel.hpp"
#include "models/hierarchical_logistic.hpp"
#include "models/linear_regression.hpp"
#include "models/log_exponential.hpp"
#include "models/logistic_regression.hpp"
#include "models/standard_normal.hpp"
#include "models/stochastic_volatility.hpp"
#include "models/student_t.hpp"
#include "models/two_mode_mixture.hpp"
#include "models/varying_intercepts.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::testing {

struct NamedTarget {
  std::string name;
  Density density;
};

/// The paper's first test case: variances are the eigenvalues of a Wishart draw with mean I.
inline DiagonalNormal wishart_diagonal_normal(std::size_t dimension) {
  std::vector<double> scales =
      wishart_eigenvalues({.dimension = dimension, .degrees_of_freedom = dimension});
  for (double& scale : scales) scale = std::sqrt(scale);
  return DiagonalNormal(scales);
}

inline std::vector<NamedTarget> all_targets() {
  return {
      {"standard normal", StandardNormal(7)},
      {"standard normal, one dimension", StandardNormal(1)},
      {"diagonal normal", wishart_diagonal_normal(50)},
      {"correlated normal",
       CorrelatedNormal(wishart_draw({.dimension = 20, .degrees_of_freedom = 25}))},
      {"banana", Banana()},
      {"banana at y = -3", Banana(-3)},
      {"funnel", Funnel(10)},
      {"eight schools, centred", EightSchoolsCentred()},
      {"eight schools, non-centred", EightSchoolsNonCentred()},
      {"Student-t, 5 degrees of freedom", StudentT(9, 5)},
      {"Student-t, 1 degree of freedom", StudentT(9, 1)},
      {"log-exponential", LogExponential(9)},
      {"two modes", TwoModeMixture()},
      {"two modes far apart", TwoModeMixture({.dimension = 5, .distance = 20})},
      {"linear regression",
       LinearRegression(simulate_linear_data({.observations = 30, .predictors = 5}))},
      {"linear regression, fewer rows than columns",
       LinearRegression(simulate_linear_data({.observations = 3, .predictors = 5}))},
      {"varying intercepts",
       VaryingIntercepts(simulate_varying_intercepts({.groups = 5, .observations = 30}))},
      {"stochastic volatility", StochasticVolatility(simulate_returns({.days = 12}))},
      {"stochastic volatility, two days", StochasticVolatility(simulate_returns({.days = 2}))},
      {"Cox process, 3 x 3", CoxProcess({.size = 3}, simulate_cox_counts({.size = 3}, 1))},
      {"Cox process, 4 x 4", CoxProcess({.size = 4}, simulate_cox_counts({.size = 4}, 1))},
      {"whitened Cox process, 3 x 3",
       WhitenedCoxProcess({.size = 3}, simulate_cox_counts({.size = 3}, 1))},
      {"whitened Cox process, 6 x 6",
       WhitenedCoxProcess({.size = 6}, simulate_cox_counts({.size = 6}, 1))},
      {"logistic regression",
       LogisticRegression(simulate_logistic_data({.observations = 77, .predictors = 9}))},
      {"hierarchical logistic", HierarchicalLogistic(with_interactions(
                                    simulate_attributes({.observations = 50, .attributes = 4})))},
  };
}

}  // namespace rehmc::testing
