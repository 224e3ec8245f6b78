// Compares a model's gradient with finite differences of its log density.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// One derivative: the model's, and that from differences of the log density.
struct DerivativeCheck {
  std::string name;               ///< of the coordinate
  double analytic = 0;            ///< the model's
  double numeric = 0;             ///< NaN where no step around the point gave finite differences
  double error = 0;               ///< |analytic - numeric|
  double tolerance = 0;           ///< what truncation and rounding of the differences can explain
  bool ok = false;                ///< error <= tolerance
  std::uint64_t evaluations = 0;  ///< of the density, for check_gradient_along()
};

/// Checks every entry of the gradient at x, with four evaluations of the log density for most
/// entries, more if the first step is too long. The tolerance is this fraction of the derivative
/// plus the error of the differences. ModelError if the log density cannot be used at x itself;
/// ConfigError for a negative tolerance.
std::vector<DerivativeCheck> check_gradient(const Density& density, std::span<const double> x,
                                            double relative_tolerance = 1e-6);

/// Checks the derivative along a direction, at the cost of one coordinate: for models with too many
/// coordinates to check one by one. ConfigError for a direction that is zero, not finite, or of the
/// wrong length.
DerivativeCheck check_gradient_along(const Density& density, std::span<const double> x,
                                     std::span<const double> direction,
                                     double relative_tolerance = 1e-6);

}  // namespace rehmc
