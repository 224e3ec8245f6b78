// Checks a gradient at a few points: a wrong one is wrong nearly everywhere.
#include "stan/start_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/model/check_gradient.hpp"
#include "rehmc/model/guard.hpp"
#include "rehmc/model/messages.hpp"

namespace rehmc::stan {
namespace {

constexpr std::size_t points = 3;
constexpr int directions = 2;
/// Random points to choose these from.
constexpr int tries = 30;
/// Solvers of differential equations give log densities that are rough at about 1e-6, and their
/// differences are rough at 1e-3 or so of the largest derivative. Errors in code are larger.
constexpr double tolerance = 1e-3;
constexpr std::size_t gradients_each = 6;  // for one derivative, approximately
/// For all coordinates at all points; with more, directions are checked. A run of the default
/// length takes at least fifty times as many. What is checked must not depend on how fast the
/// machine happens to be.
constexpr std::size_t most_gradients = 1000;

bool wrong(const DerivativeCheck& check, double largest) {
  return !check.ok && std::isfinite(check.numeric) && check.error > tolerance * largest;
}

double largest_entry(const std::vector<DerivativeCheck>& checks) {
  double largest = 0;
  for (const DerivativeCheck& check : checks) largest = std::max(largest, std::abs(check.analytic));
  return largest;
}

/// Derivatives that are wrong at one point, by name.
std::vector<DerivativeCheck> wrong_at(const Density& density, const std::vector<double>& x) {
  std::vector<DerivativeCheck> checks = check_gradient(density, x, tolerance);
  const double largest = largest_entry(checks);
  std::erase_if(checks, [&](const DerivativeCheck& check) { return !wrong(check, largest); });
  return checks;
}

bool wrong_along(const Density& density, const std::vector<double>& x, Stream& stream,
                 double largest) {
  std::vector<double> direction(x.size());
  for (int k = 0; k < directions; ++k) {
    stream.fill_normal(direction);
    if (wrong(check_gradient_along(density, x, direction, tolerance), largest)) return true;
  }
  return false;
}

/// A random point where the density can be used.
struct Point {
  std::vector<double> x;
  double log_density = 0;
  double largest = 0;  ///< of the derivatives
};

/// The random points of highest density. At others even a correct gradient may differ from the
/// differences, for example where a differential equation is solved badly.
std::vector<Point> likely_points(Guard& guard, Stream& stream) {
  std::vector<Point> found;
  std::vector<double> gradient(guard.dimension());
  for (int attempt = 0; attempt < tries; ++attempt) {
    Point point{std::vector<double>(guard.dimension())};
    for (double& each : point.x) each = 4 * stream.uniform() - 2;
    point.log_density = guard(point.x, gradient);
    if (!std::isfinite(point.log_density)) continue;
    for (const double entry : gradient) point.largest = std::max(point.largest, std::abs(entry));
    found.push_back(std::move(point));
  }
  std::sort(found.begin(), found.end(),
            [](const Point& a, const Point& b) { return a.log_density > b.log_density; });
  found.resize(std::min(found.size(), points));
  return found;
}

[[noreturn]] void fail(const std::string& file, const DerivativeCheck& check) {
  throw ModelError(fmt::format(
      "{}: the interpreter's gradient is wrong: the derivative with respect to {} is {:.6g} by the "
      "interpreter and {:.6g} by differences of the log density; compile the program instead: "
      "--stan-backend compile",
      file, check.name, check.analytic, check.numeric));
}

}  // namespace

void check_interpreter(const BridgeDensity& density, const std::string& file,
                       const std::string& data_file,
                       const std::function<void(const std::string&)>& note) {
  const MutedMessages muted(density.messages());  // messages about random points are not useful
  const Density checked(density);
  Guard guard(checked);
  Stream stream(Address{}, Purpose::gradient_check);
  const std::vector<Point> likely = likely_points(guard, stream);
  if (likely.empty()) {
    const std::string data = data_file.empty() ? "" : " --data " + data_file;
    note(
        fmt::format("{}: the log density cannot be used at any of {} random points, so the "
                    "interpreter's gradients are not checked at the start; `rehmc check-gradient "
                    "{}{}` checks them",
                    file, tries, file, data));
  }
  const bool few = points * gradients_each * density.dimension() <= most_gradients;
  std::map<std::string, int> counts;
  for (const Point& point : likely) {
    // Coordinate by coordinate takes long, but is worth it where a direction is wrong.
    if (!few && !wrong_along(checked, point.x, stream, point.largest)) continue;
    for (const DerivativeCheck& check : wrong_at(checked, point.x)) {
      if (++counts[check.name] >= 2) fail(file, check);
    }
  }
}

}  // namespace rehmc::stan
