// Quantiles of the beta, F and Student's t distribution.
#pragma once

namespace rehmc {

/// The x at which the distribution function of Beta(a, b) is p.
double beta_quantile(double p, double a, double b);

/// The value that F exceeds with this probability, for these degrees of freedom.
double upper_f_quantile(double probability, double numerator, double denominator);

/// The t that |T| exceeds with this probability, for T with Student's distribution.
double two_sided_student_quantile(double probability, double degrees);

}  // namespace rehmc
