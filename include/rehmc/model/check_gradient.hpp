// Compares a model's gradient with finite differences of its log density.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// One derivative, as the model gives it and as differences of the log density give it.
struct DerivativeCheck {
  std::string name;      ///< of the coordinate
  double analytic = 0;   ///< what the model says
  double numeric = 0;    ///< NaN where no step around the point gave finite differences
  double error = 0;      ///< |analytic - numeric|
  double tolerance = 0;  ///< what truncation and rounding of the differences can explain
  bool ok = false;       ///< error <= tolerance
};

/// Checks every entry of the gradient at x, with four evaluations of the log density for most
/// entries, more where the first step is too long for it. The tolerance is about 1e-6 of the
/// derivative, or wider where the differences themselves are less exact than that.
/// ModelError if the log density cannot be used at x itself.
std::vector<DerivativeCheck> check_gradient(const Density& density, std::span<const double> x);

/// Checks the derivative along a direction, at the cost of one coordinate: for models with too many
/// coordinates to check one by one. ConfigError for a direction that is zero, not finite, or of the
/// wrong length.
DerivativeCheck check_gradient_along(const Density& density, std::span<const double> x,
                                     std::span<const double> direction);

}  // namespace rehmc
