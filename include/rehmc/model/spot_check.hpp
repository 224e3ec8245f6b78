// Whether a model's gradient is that of its log density, looked at in a few directions.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// What a look at some derivatives told. Metropolis forgives a wrong gradient; control variates
/// made of it do not.
struct SpotCheck {
  std::size_t directions = 0;  ///< that were looked at
  bool passed = true;
  std::string where;    ///< the coordinate that failed, or "a random direction"
  double analytic = 0;  ///< what the model says there
  double numeric = 0;   ///< what differences of the log density say

  template <class Archive>
  void archive(Archive& archive) {
    archive(directions, passed, where, analytic, numeric);
  }
};

/// Compares derivatives at a state with differences of the log density: along so many coordinates
/// from the first on, going round, and one random direction of typical steps. Stops at the first
/// that fails.
SpotCheck spot_check(const Density& density, std::span<const double> x,
                     std::span<const double> typical_steps, std::size_t first, std::size_t count,
                     Stream& stream);

}  // namespace rehmc
