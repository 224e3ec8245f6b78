// Checks derivatives along single coordinates, then along a random direction.
#include "rehmc/model/spot_check.hpp"

#include <cmath>
#include <vector>

#include "rehmc/model/check_gradient.hpp"

namespace rehmc {

SpotCheck spot_check(const Density& density, std::span<const double> x,
                     std::span<const double> typical_steps, std::size_t first, std::size_t count,
                     Stream& stream) {
  // Models that solve equations have gradients that are no more accurate than this.
  constexpr double tolerance = 1e-4;
  const std::size_t d = x.size();
  SpotCheck result;
  const auto look = [&](const std::vector<double>& direction, const std::string& where) {
    const DerivativeCheck check = check_gradient_along(density, x, direction, tolerance);
    ++result.directions;
    // If no difference is finite, there is nothing to compare with.
    if (check.ok || !std::isfinite(check.numeric)) return;
    result.passed = false;
    result.where = where;
    result.analytic = check.analytic;
    result.numeric = check.numeric;
  };
  std::vector<double> direction(d, 0.0);
  const std::vector<std::string> names = density.names();
  for (std::size_t k = 0; k < std::min(count, d) && result.passed; ++k) {
    const std::size_t i = (first + k) % d;
    direction[i] = typical_steps[i];
    look(direction, names[i]);
    direction[i] = 0;
  }
  if (!result.passed) return result;
  for (std::size_t i = 0; i < d; ++i) direction[i] = typical_steps[i] * stream.normal();
  look(direction, "a random direction");
  return result;
}

}  // namespace rehmc
