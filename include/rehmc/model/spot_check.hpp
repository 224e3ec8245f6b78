// Checks in a few directions whether a model's gradient is that of its log density.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// The result of checking some derivatives. A Metropolis step corrects for a wrong gradient;
/// control variates do not.
struct SpotCheck {
  std::size_t directions = 0;     ///< that were checked
  std::uint64_t evaluations = 0;  ///< of the density
  bool passed = true;
  std::string where;    ///< the coordinate that failed, or "a random direction"
  double analytic = 0;  ///< the model's derivative there
  double numeric = 0;   ///< the derivative from differences of the log density

  template <class Archive>
  void archive(Archive& archive) {
    archive(directions, evaluations, passed, where, analytic, numeric);
  }
};

/// Compares derivatives at a state with differences of the log density: along this many coordinates
/// from `first` on, cyclically, and along one random direction of typical steps. A derivative g is
/// wrong if it is off by more than 1e-4 max(t, |g|), where t is the typical size of a derivative
/// along that direction, and if one is wrong in one of two more directions close by. Stops at the
/// first that fails.
SpotCheck spot_check(const Density& density, std::span<const double> x,
                     std::span<const double> typical_steps, std::size_t first, std::size_t count,
                     Stream& stream);

}  // namespace rehmc
