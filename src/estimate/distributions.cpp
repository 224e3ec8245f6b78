// Quantiles by Boost.Math, which only this file includes: it is slow to compile.
#include "rehmc/estimate/distributions.hpp"

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace rehmc {

namespace {

namespace policies = boost::math::policies;
/// Arguments outside the domain give NaN instead of an exception; no promotion to long double.
using Policy = policies::policy<policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>,
                                policies::promote_double<false>>;

}  // namespace

double beta_quantile(double p, double a, double b) {
  return boost::math::ibeta_inv(a, b, p, Policy());
}

double upper_f_quantile(double probability, double numerator, double denominator) {
  // numerator F / (numerator F + denominator) has the distribution Beta(numerator / 2, denominator
  // / 2).
  double rest = 0;
  const double share =
      boost::math::ibetac_inv(numerator / 2, denominator / 2, probability, &rest, Policy());
  return denominator * share / (numerator * rest);
}

double two_sided_student_quantile(double probability, double degrees) {
  // degrees / (degrees + T^2) has the distribution Beta(degrees / 2, 1 / 2).
  double rest = 0;
  const double share = boost::math::ibeta_inv(degrees / 2, 0.5, probability, &rest, Policy());
  return std::sqrt(degrees * rest / share);
}

}  // namespace rehmc
