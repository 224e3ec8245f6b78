// Names of starts, and condition numbers without matrices.
#include "rehmc/adapt/warmup_story.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rehmc {

namespace {

bool is_diagonal(const Metric& metric) { return metric.shape() != MassShape::matrix; }

/// The largest v' A^{-1} v / v' B^{-1} v, with the masses A and B, by power iteration of
/// B A^{-1}. The quotient is stationary at the solution, so that its error is the square of that of
/// the direction.
double greatest_stretch(const Metric& a, const Metric& b) {
  constexpr int steps = 60;
  const std::size_t d = a.dimension();
  std::vector<double> v(d);
  // Any start with a part along all directions; it fixes the bits of the result.
  for (std::size_t i = 0; i < d; ++i) v[i] = 1 + std::sin(3.7 * static_cast<double>(i + 1));
  std::vector<double> by_a(d);
  std::vector<double> by_b(d);
  const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  double stretch = 0;
  for (int step = 0; step < steps; ++step) {
    a.inverse_mass_times(v, by_a);
    b.inverse_mass_times(v, by_b);
    stretch = std::max(stretch, dot(v, by_a) / dot(v, by_b));
    b.mass_times(by_a, v);
    const double length = std::sqrt(dot(v, v));
    for (double& x : v) x /= length;
  }
  return stretch;
}

}  // namespace

std::string_view describe(StartOutcome outcome) noexcept {
  switch (outcome) {
    case StartOutcome::random:
      return "random";
    case StartOutcome::given:
      return "given";
    case StartOutcome::pathfinder:
      return "pathfinder";
    case StartOutcome::pathfinder_no_help:
      return "pathfinder_no_help";
  }
  return "unknown";
}

double condition_number(const Metric& covariance, const Metric& unit) {
  if (!is_diagonal(covariance) || !is_diagonal(unit)) {
    return greatest_stretch(covariance, unit) * greatest_stretch(unit, covariance);
  }
  std::vector<double> ratios = covariance.inverse_diagonal();
  const std::vector<double> units = unit.inverse_diagonal();
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= units[i];
  const auto [least, most] = std::ranges::minmax_element(ratios);
  return *most / *least;
}

}  // namespace rehmc
