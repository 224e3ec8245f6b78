// A logistic regression small enough for quadrature: 40 observations, 4 coefficients.
#pragma once

#include "exact_target.hpp"

namespace rehmc::bench {

/// An intercept, two normal predictors and one that is 0 or 1; beta_j ~ N(0, 2.5). The data were
/// simulated with coefficients -0.3, 1, -0.7 and 0.8.
ExactTarget small_logistic(double fineness);

}  // namespace rehmc::bench
