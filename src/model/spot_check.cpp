// Checks derivatives along single coordinates, then along a random direction.
#include "rehmc/model/spot_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "rehmc/core/stan_name.hpp"
#include "rehmc/model/check_gradient.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {

namespace {

/// Models that solve equations have gradients that are no more accurate than this.
constexpr double tolerance = 1e-4;

/// How large a derivative along a direction typically is, from the curvature at x: the mean of
/// (g . v)^2 over the density is that of -v' l'' v (Fisher's identity). The second difference spans
/// the direction, so that it shows the curvature of the bulk. 0 where the density ends too close
/// by.
double typical_derivative(Guard& guard, const std::vector<double>& x,
                          const std::vector<double>& direction) {
  constexpr double shortest = 1.0 / 1024;
  std::vector<double> moved(x.size());
  std::vector<double> unused(x.size());
  const auto value_at = [&](double t) {
    for (std::size_t i = 0; i < x.size(); ++i) moved[i] = x[i] + t * direction[i];
    return guard(moved, unused);
  };
  const double centre = value_at(0);
  for (double t = 1; t >= shortest; t /= 4) {
    const double difference = value_at(t) - 2 * centre + value_at(-t);
    if (std::isfinite(difference)) return std::sqrt(std::abs(difference)) / t;
  }
  return 0;
}

/// Compares derivatives at one state with differences.
class SpotChecker {
 public:
  SpotChecker(const Density& density, std::span<const double> x,
              std::span<const double> typical_steps, Stream& stream)
      : density_(density), x_(x.begin(), x.end()), steps_(typical_steps), stream_(stream) {}

  bool passed() const { return result_.passed; }
  const SpotCheck& result() const { return result_; }

  /// Fails if the derivative is wrong, and again in one of two other directions v + w and v - w: in
  /// one of them, an error that is linear in the direction is no smaller than along v.
  void look(const std::vector<double>& v, const std::string& where) {
    const auto wrong = error_along(v);
    if (!wrong) return;
    const std::vector<double> w = random_direction();
    std::vector<double> mixed(v.size());
    for (const double sign : {1.0, -1.0}) {
      for (std::size_t i = 0; i < v.size(); ++i) mixed[i] = v[i] + sign * w[i];
      if (!error_along(mixed)) continue;
      result_.passed = false;
      result_.where = where;
      result_.analytic = wrong->analytic;
      result_.numeric = wrong->numeric;
      return;
    }
  }

  /// As long as a single coordinate's typical step, so that the derivative is of the same size.
  std::vector<double> random_direction() {
    const double share = 1 / std::sqrt(static_cast<double>(x_.size()));
    std::vector<double> direction(x_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) direction[i] = steps_[i] * stream_.normal() * share;
    return direction;
  }

 private:
  /// The derivative along a direction, if it is wrong. It may be off by a share of itself, or of
  /// its typical size: near the mode a right derivative is nearly 0, but the error of an equation's
  /// solution is not.
  std::optional<DerivativeCheck> error_along(const std::vector<double>& direction) {
    const DerivativeCheck check = check_gradient_along(density_, x_, direction, tolerance);
    ++result_.directions;
    result_.evaluations += check.evaluations;
    // If no difference is finite, there is nothing to compare with.
    if (check.ok || !std::isfinite(check.numeric)) return {};
    Guard guard(density_);
    const double more = typical_derivative(guard, x_, direction) - std::abs(check.analytic);
    result_.evaluations += guard.evaluations();
    if (check.error <= check.tolerance + tolerance * std::max(0.0, more)) return {};
    return check;
  }

  const Density& density_;
  std::vector<double> x_;
  std::span<const double> steps_;
  Stream& stream_;
  SpotCheck result_;
};

}  // namespace

SpotCheck spot_check(const Density& density, std::span<const double> x,
                     std::span<const double> typical_steps, std::size_t first, std::size_t count,
                     Stream& stream) {
  const std::size_t d = x.size();
  SpotChecker checker(density, x, typical_steps, stream);
  std::vector<double> direction(d, 0.0);
  const std::vector<std::string> names = density.names();
  for (std::size_t k = 0; k < std::min(count, d) && checker.passed(); ++k) {
    const std::size_t i = (first + k) % d;
    direction[i] = typical_steps[i];
    checker.look(direction, stan_name(names[i]));
    direction[i] = 0;
  }
  if (checker.passed()) checker.look(checker.random_direction(), "a random direction");
  return checker.result();
}

}  // namespace rehmc
