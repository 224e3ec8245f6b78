// Quantiles of the beta and Student's t distribution.
#pragma once

namespace rehmc {

/// The x at which the distribution function of Beta(a, b) is p.
double beta_quantile(double p, double a, double b);

/// The t that |T| exceeds with this probability, for T with Student's distribution.
double two_sided_student_quantile(double probability, double degrees);

}  // namespace rehmc
