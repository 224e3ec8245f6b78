// Leapfrog steps on the banana, and the grid of its density.
#include "experiments/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/csv.hpp"
#include "models/banana.hpp"

namespace rehmc::experiments {

namespace {

constexpr std::size_t grid_points = 61;
/// All but a thousandth of the banana lies here.
constexpr double x_range[] = {-3, 3};
constexpr double y_range[] = {-2.6, 2.6};

double at(const double (&range)[2], std::size_t i) {
  return range[0] + (range[1] - range[0]) * static_cast<double>(i) / (grid_points - 1);
}

/// A point of the phase space, with unit mass matrix.
struct Point {
  std::array<double, 2> x;
  std::array<double, 2> p;
  std::array<double, 2> gradient{};
  double energy = 0;

  void evaluate(const Banana& density) {
    energy = (p[0] * p[0] + p[1] * p[1]) / 2 - density(x, gradient);
  }
  /// One leapfrog step (Nishimura & Dunson 2020, equation 2).
  void step(const Banana& density, double size) {
    for (std::size_t i = 0; i < 2; ++i) {
      p[i] += size / 2 * gradient[i];
      x[i] += size * p[i];
    }
    density(x, gradient);
    for (std::size_t i = 0; i < 2; ++i) p[i] += size / 2 * gradient[i];
    evaluate(density);
  }
};

}  // namespace

std::vector<TrajectoryPoint> run_trajectory(const TrajectoryPlan& plan) {
  const Banana density;
  Point point{plan.start, plan.momentum.value_or(std::array<double, 2>{})};
  if (!plan.momentum) Stream(plan.address, Purpose::momentum).fill_normal(point.p);
  point.evaluate(density);
  std::vector<TrajectoryPoint> points{{point.x, point.p, true}};

  const double start_energy = point.energy;
  const double coin_of_end = Stream(plan.address, Purpose::acceptance).uniform();
  Stream coins(plan.address, Purpose::recycling);
  for (std::size_t k = 1; k <= plan.steps; ++k) {
    point.step(density, plan.step_size);
    const double gain = start_energy - point.energy;
    const double acceptance = gain >= 0 ? 1 : std::exp(gain);
    const double coin = k == plan.steps ? coin_of_end : coins.uniform();
    points.push_back({point.x, point.p, coin < acceptance});
  }
  return points;
}

void write_trajectory(const std::filesystem::path& folder) {
  Table path({"step", "x", "y", "accepted", "momentum_x", "momentum_y"});
  for (const TrajectoryPoint& point : run_trajectory()) {
    path.append({path.rows(), point.position[0], point.position[1], point.accepted ? 1 : 0,
                 point.momentum[0], point.momentum[1]});
  }
  path.write(folder / "trajectory.csv");

  const Banana density;
  std::vector<std::array<double, 3>> grid;
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < grid_points; ++i) {
    for (std::size_t j = 0; j < grid_points; ++j) {
      const double x[] = {at(x_range, j), at(y_range, i)};
      double gradient[2];
      grid.push_back({x[0], x[1], density(x, gradient)});
      greatest = std::max(greatest, grid.back()[2]);
    }
  }
  Table banana({"x", "y", "density"});
  for (const auto& [x, y, log_density] : grid) {
    banana.append({x, y, std::exp(log_density - greatest)});
  }
  banana.write(folder / "banana.csv");
}

}  // namespace rehmc::experiments
