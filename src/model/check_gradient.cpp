// Finite-difference checks of a gradient, with error estimates so that rounding is not called
// wrong.
#include "rehmc/model/check_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "rehmc/core/error.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// What is known at the point itself.
struct Centre {
  double value = 0;
  /// How much f moves if every coordinate is moved by its own size: the parts of a sum that cancel
  /// in the value show here, and with them the rounding errors they leave.
  double magnitude = 0;
};

Centre centre_at(double value, std::span<const double> x, std::span<const double> gradient) {
  double magnitude = 0;
  for (std::size_t i = 0; i < x.size(); ++i) magnitude += std::abs(gradient[i] * x[i]);
  return {value, magnitude};
}

struct Derivative {
  double value = not_a_number;
  double truncation = infinity;  ///< bound on the error from the length of the step
  double rounding = infinity;    ///< bound on the error from the rounding of the log density

  double error() const { return truncation + rounding; }
};

/// The derivative at 0 of a function of one variable, by the five-point rule with step h,
///   (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h = f' + O(h^4).
/// Its truncation error is far below its distance to the three-point rule, which is O(h^2). The
/// noise of f is taken as the larger of a few rounding errors and the fourth difference of f.
template <class Function>
Derivative five_point_rule(Function&& f, const Centre& centre, double step) {
  const double up = f(step);
  const double down = f(-step);
  const double up_twice = f(2 * step);
  const double down_twice = f(-2 * step);
  if (!std::isfinite(up + down + up_twice + down_twice)) return {};
  const double three_points = (up - down) / (2 * step);
  const double five_points = (8 * (up - down) - (up_twice - down_twice)) / (12 * step);
  const double fourth_difference = (up_twice + down_twice) - 4 * (up + down) + 6 * centre.value;
  const double magnitude = centre.magnitude + std::max({std::abs(centre.value), std::abs(up_twice),
                                                        std::abs(down_twice)});
  const double noise = std::max(16 * std::numeric_limits<double>::epsilon() * magnitude,
                                std::abs(fourth_difference));
  return {five_points, std::abs(five_points - three_points), 1.5 * noise / step};
}

/// Shortens the step until its truncation is below what matters or below rounding.
template <class Function>
Derivative differentiate(Function&& f, const Centre& centre, double first_step) {
  constexpr double enough = 1e-6;
  constexpr int most_steps = 14;
  Derivative best;
  double step = first_step;
  for (int i = 0; i < most_steps; ++i, step /= 8) {
    const Derivative trial = five_point_rule(f, centre, step);
    if (trial.error() < best.error()) best = trial;
    if (trial.truncation < trial.rounding || trial.error() < enough * std::abs(trial.value)) break;
  }
  return best;
}

DerivativeCheck compare(std::string name, double analytic, const Derivative& numeric) {
  constexpr double relative_tolerance = 1e-6;
  DerivativeCheck check{.name = std::move(name), .analytic = analytic, .numeric = numeric.value};
  check.error = std::abs(analytic - numeric.value);
  check.tolerance = numeric.error() + relative_tolerance * std::abs(analytic);
  check.ok = check.error <= check.tolerance;
  return check;
}

/// A power of two near 2^-10 of the size of x, so that x plus or minus it is hardly rounded.
double first_step(double x) { return std::exp2(std::ilogb(std::max(1.0, std::abs(x))) - 10); }

}  // namespace

std::vector<DerivativeCheck> check_gradient(const Density& density, std::span<const double> x) {
  Guard guard(density);
  std::vector<double> gradient(guard.dimension());
  const Centre centre = centre_at(guard.evaluate_strictly(x, gradient), x, gradient);
  std::vector<std::string> names = density.names();
  std::vector<double> moved(x.begin(), x.end());
  std::vector<double> unused(guard.dimension());
  std::vector<DerivativeCheck> table;
  table.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto along_coordinate = [&](double t) {
      moved[i] = x[i] + t;
      return guard(moved, unused);
    };
    const Derivative numeric = differentiate(along_coordinate, centre, first_step(x[i]));
    moved[i] = x[i];
    table.push_back(compare(std::move(names[i]), gradient[i], numeric));
  }
  return table;
}

DerivativeCheck check_gradient_along(const Density& density, std::span<const double> x,
                                     std::span<const double> direction) {
  Guard guard(density);
  if (direction.size() != guard.dimension()) {
    throw ConfigError(
        fmt::format("direction: found length {}, but the log density has dimension {}",
                    direction.size(), guard.dimension()));
  }
  double largest = 0;
  for (const double entry : direction) {
    // Written so that a NaN stays.
    if (!(std::abs(entry) <= largest)) largest = std::abs(entry);
  }
  if (!(largest > 0) || !std::isfinite(largest)) {
    throw ConfigError(
        fmt::format("direction: its largest entry is {}, must be above 0 and finite", largest));
  }
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
  return compare("direction", analytic,
                 differentiate(along_direction, centre, first_step(size / largest)));
}

}  // namespace rehmc
