// Finite-difference checks of a gradient that account for rounding.
#include "rehmc/model/check_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {
namespace {

/// Values at the point itself.
struct Centre {
  double value = 0;
  /// How much f changes if every coordinate changes by its own size. Terms of a sum that cancel in
  /// the value show here, and with them their rounding errors.
  double magnitude = 0;
};

Centre centre_at(double value, std::span<const double> x, std::span<const double> gradient) {
  double magnitude = 0;
  for (std::size_t i = 0; i < x.size(); ++i) magnitude += std::abs(gradient[i] * x[i]);
  return {value, magnitude};
}

struct Derivative {
  double value = nan_value;
  double truncation = infinity;  ///< bound on the error from the length of the step
  double rounding = infinity;    ///< bound on the error from the last digits of the log density
  double step = 0;

  double error() const { return truncation + rounding; }
};

/// The derivative at 0 of a function of one variable, by the five-point rule with step h,
///   (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h = f' + O(h^4).
/// Its truncation error is far below its distance to the three-point rule, which is O(h^2).
template <class Function>
Derivative five_point_rule(Function&& f, const Centre& centre, double step) {
  const double up = f(step);
  const double down = f(-step);
  const double up_twice = f(2 * step);
  const double down_twice = f(-2 * step);
  if (!std::isfinite(up + down + up_twice + down_twice)) return {};
  const double three_points = (up - down) / (2 * step);
  const double five_points = (8 * (up - down) - (up_twice - down_twice)) / (12 * step);
  const double magnitude = centre.magnitude + std::max({std::abs(centre.value), std::abs(up_twice),
                                                        std::abs(down_twice)});
  const double noise = 16 * std::numeric_limits<double>::epsilon() * magnitude;
  return {five_points, std::abs(five_points - three_points), 1.5 * noise / step, step};
}

/// Shortens the step until the truncation error is negligible, or below rounding, or no longer
/// decreases.
template <class Function>
Derivative differentiate(Function&& f, const Centre& centre, double first_step) {
  constexpr double enough = 1e-6;
  constexpr int most_steps = 11;  // the last is 2^-40 of the size of x, and still well resolved
  Derivative best;
  double step = first_step;
  for (int i = 0; i < most_steps; ++i, step /= 8) {
    const Derivative trial = five_point_rule(f, centre, step);
    if (best.step > 0 && !(trial.error() < best.error())) break;
    best = trial;
    if (best.truncation < best.rounding || best.error() < enough * std::abs(best.value)) break;
  }
  return best;
}

/// How much the derivative changes if the step changes slightly: shows the noise of a log density
/// that is rougher than its last digits, such as one computed in single precision.
template <class Function>
double scatter(Function&& f, const Centre& centre, const Derivative& derivative) {
  double farthest = 0;
  // Not simple fractions: with a round x these would round in the same way every time.
  for (const double factor : {0.5330719, 0.6847241, 0.8513377, 1.2179753, 1.4561083, 1.8323591}) {
    const Derivative other = five_point_rule(f, centre, factor * derivative.step);
    if (other.step > 0) farthest = std::max(farthest, std::abs(other.value - derivative.value));
  }
  return farthest;
}

/// Compares the model's derivative with that of f at 0.
template <class Function>
DerivativeCheck check_derivative(double analytic, Function&& f, const Centre& centre,
                                 double first_step, double relative_tolerance) {
  // Seven errors that agree to a quarter of their size are hardly ever noise.
  constexpr double scatter_factor = 4;
  const Derivative derivative = differentiate(f, centre, first_step);
  DerivativeCheck check;
  check.analytic = analytic;
  check.numeric = derivative.value;
  check.error = std::abs(analytic - derivative.value);
  check.tolerance = derivative.error() + relative_tolerance * std::abs(analytic);
  if (derivative.step > 0 && !(check.error <= check.tolerance)) {
    check.tolerance += scatter_factor * scatter(f, centre, derivative);
  }
  check.ok = check.error <= check.tolerance;
  return check;
}

/// A power of two near 2^-10 of the size of x, so that x plus or minus it is hardly rounded.
double first_step(double x) { return std::exp2(std::ilogb(std::max(1.0, std::abs(x))) - 10); }

}  // namespace

std::vector<DerivativeCheck> check_gradient(const Density& density, std::span<const double> x,
                                            double relative_tolerance) {
  require_setting("relative_tolerance", relative_tolerance, at_least(0));
  Guard guard(density);
  std::vector<double> gradient(guard.dimension());
  const Centre centre = centre_at(guard.evaluate_strictly(x, gradient), x, gradient);
  const std::vector<std::string> names = density.names();
  std::vector<double> moved(x.begin(), x.end());
  std::vector<double> unused(guard.dimension());
  std::vector<DerivativeCheck> table;
  table.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto along_coordinate = [&](double t) {
      moved[i] = x[i] + t;
      return guard(moved, unused);
    };
    table.push_back(check_derivative(gradient[i], along_coordinate, centre, first_step(x[i]),
                                     relative_tolerance));
    table.back().name = stan_name(names[i]);
    moved[i] = x[i];
  }
  return table;
}

DerivativeCheck check_gradient_along(const Density& density, std::span<const double> x,
                                     std::span<const double> direction, double relative_tolerance) {
  require_setting("relative_tolerance", relative_tolerance, at_least(0));
  Guard guard(density);
  if (direction.size() != guard.dimension()) {
    throw ConfigError(
        fmt::format("direction: found length {}, but the log density has dimension {}",
                    direction.size(), guard.dimension()));
  }
  double largest = 0;
  for (const double entry : direction) {
    if (!std::isfinite(entry)) {
      throw ConfigError(fmt::format("direction: has an entry {}, must be finite", entry));
    }
    largest = std::max(largest, std::abs(entry));
  }
  if (largest == 0) throw ConfigError("direction: all entries are 0, give one that is not");
  std::vector<double> gradient(guard.dimension());
  const Centre centre = centre_at(guard.evaluate_strictly(x, gradient), x, gradient);
  double analytic = 0;
  double size = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    analytic += gradient[i] * direction[i];
    size = std::max(size, std::abs(x[i]));
  }
  std::vector<double> moved(x.size());
  std::vector<double> unused(x.size());
  const auto along_direction = [&](double t) {
    for (std::size_t i = 0; i < x.size(); ++i) moved[i] = x[i] + t * direction[i];
    return guard(moved, unused);
  };
  DerivativeCheck check = check_derivative(analytic, along_direction, centre,
                                           first_step(size / largest), relative_tolerance);
  check.name = "direction";
  check.evaluations = guard.evaluations();
  return check;
}

}  // namespace rehmc
