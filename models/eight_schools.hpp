// Eight schools (Rubin 1981; Gelman et al. 2013, section 5.5), centred and non-centred.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/quantity.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

/// The classic data: the effects y_j that were measured, and their standard errors sigma_j.
struct EightSchoolsData {
  static constexpr std::size_t schools = 8;
  static constexpr std::array<double, schools> effects{28, 8, -3, 7, -1, 1, 18, 12};
  static constexpr std::array<double, schools> standard_errors{15, 10, 16, 11, 9, 11, 10, 18};
};

/// Data of any number of schools; the defaults are the classic ones.
struct SchoolsData {
  std::vector<double> effects{EightSchoolsData::effects.begin(), EightSchoolsData::effects.end()};
  std::vector<double> standard_errors{EightSchoolsData::standard_errors.begin(),
                                      EightSchoolsData::standard_errors.end()};
};

/// mu ~ N(0, 5), tau ~ half-Cauchy(0, 5), theta_j ~ N(mu, tau), y_j ~ N(theta_j, sigma_j), sampled
/// as (mu, log tau, theta): a funnel in (log tau, theta).
class EightSchoolsCentred {
 public:
  /// DataError for no schools, unequal numbers of effects and errors, effects that are not finite,
  /// or errors that are not positive and finite.
  explicit EightSchoolsCentred(SchoolsData data = {});

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return 2 + data_->effects.size(); }
  std::vector<std::string> names() const;  ///< mu, log_tau, theta.1, ...

  std::vector<Quantity> quantities() const;  ///< mu, tau, theta.1, ...
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const;

  static double tau(std::span<const double> x) { return std::exp(x[1]); }

 private:
  std::shared_ptr<const SchoolsData> data_;
};

/// The same posterior, sampled as (mu, log tau, theta_trans) with theta = mu + tau * theta_trans.
class EightSchoolsNonCentred {
 public:
  /// DataError as for the centred one.
  explicit EightSchoolsNonCentred(SchoolsData data = {});

  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::size_t dimension() const { return 2 + data_->effects.size(); }
  std::vector<std::string> names() const;  ///< mu, log_tau, theta_trans.1, ...

  std::vector<Quantity> quantities() const;  ///< mu, tau, theta_trans.1, ..., theta.1, ...
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const;

  static double tau(std::span<const double> x) { return std::exp(x[1]); }
  /// The effect of school 0, 1, ...
  static double theta(std::span<const double> x, std::size_t school) {
    return x[0] + tau(x) * x[2 + school];
  }

 private:
  std::shared_ptr<const SchoolsData> data_;
};

}  // namespace rehmc
