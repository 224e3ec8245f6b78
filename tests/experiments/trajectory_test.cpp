// The trajectory of figure 1 is that of the library's own kernel, acceptance by acceptance.
#include "experiments/trajectory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "experiments/csv.hpp"
#include "models/banana.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments::trajectory_test {
namespace {

using rehmc::testing::Folder;

/// Weight of what the kernel kept at this position, up to rounding.
double weight_at(const Transition& transition, const std::array<double, 2>& x) {
  double sum = 0;
  for (const auto& [state, weight] : transition.recycled) {
    const bool here = std::hypot(state.position[0] - x[0], state.position[1] - x[1]) < 1e-10;
    sum += here ? weight : 0;
  }
  return sum;
}

void expect_that_of_kernel(const TrajectoryPlan& plan) {
  KernelSettings settings;
  settings.kind = KernelKind::hmc;
  settings.recycling = {RecyclingKind::accept_each, 1};
  settings.hmc.path_steps = static_cast<int>(plan.steps);
  const auto kernel = make_kernel(Banana(), settings);
  kernel->set_position(plan.start);
  const Transition& transition =
      kernel->transition({plan.step_size, make_unit_metric(2)}, plan.address);

  const std::vector<TrajectoryPoint> points = run_trajectory(plan);
  ASSERT_EQ(points.size(), plan.steps + 1);
  const double each = 1 / static_cast<double>(plan.steps);
  double rejected = 0;
  for (std::size_t k = 1; k <= plan.steps; ++k) {
    EXPECT_NEAR(weight_at(transition, points[k].position), points[k].accepted ? each : 0, 1e-12)
        << "step " << k;
    rejected += points[k].accepted ? 0 : 1;
  }
  EXPECT_NEAR(weight_at(transition, plan.start), rejected * each, 1e-12);
  const auto& next = points.back().accepted ? points.back() : points.front();
  EXPECT_NEAR(transition.state.position[0], next.position[0], 1e-10);
}

TEST(Trajectory, IsThatOfTheKernel) {
  TrajectoryPlan plan;
  plan.momentum.reset();
  expect_that_of_kernel(plan);
  plan.step_size = 0.3;  // with more rejections, and other coins
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    plan.address.seed = seed;
    expect_that_of_kernel(plan);
  }
}

TEST(Trajectory, RejectsTheStatesThatThePapersFigureRejects) {
  const std::vector<TrajectoryPoint> points = run_trajectory();
  EXPECT_EQ(points.front().position, (std::array{-0.75, -1.25}));
  EXPECT_EQ(points.front().momentum, (std::array{0.1, 1.0}));
  for (std::size_t k = 0; k < points.size(); ++k) {
    EXPECT_EQ(points[k].accepted, k != 5 && k != 18) << k;
  }
}

TEST(Trajectory, ReturnsIfItsMomentumIsReversed) {
  // Leapfrog is reversible: so the momenta belong to the positions.
  const std::vector<TrajectoryPoint> points = run_trajectory();
  const Banana density;
  auto [x, p, accepted] = points.back();
  std::array<double, 2> gradient{};
  density(x, gradient);
  const double step = TrajectoryPlan().step_size;
  for (std::size_t k = 1; k < points.size(); ++k) {
    for (std::size_t i = 0; i < 2; ++i) p[i] -= step / 2 * gradient[i];
    for (std::size_t i = 0; i < 2; ++i) x[i] -= step * p[i];
    density(x, gradient);
    for (std::size_t i = 0; i < 2; ++i) p[i] -= step / 2 * gradient[i];
    const TrajectoryPoint& there = points[points.size() - 1 - k];
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(x[i], there.position[i], 1e-9);
      EXPECT_NEAR(p[i], there.momentum[i], 1e-9);
    }
  }
}

TEST(Trajectory, WritesItsTables) {
  const Folder folder;
  write_trajectory(folder.path());
  const Table path = Table::read(folder / "trajectory.csv");
  ASSERT_EQ(path.rows(), 21U);
  EXPECT_EQ(path.number(20, "step"), 20);
  const std::vector<double> accepted = path.numbers("accepted");
  EXPECT_EQ(std::count(accepted.begin(), accepted.end(), 0.0), 2);

  const Table banana = Table::read(folder / "banana.csv");
  ASSERT_EQ(banana.rows(), 61U * 61U);
  const std::vector<double> density = banana.numbers("density");
  EXPECT_EQ(*std::max_element(density.begin(), density.end()), 1);
  const std::vector<double> x = banana.numbers("x");
  const std::vector<double> y = banana.numbers("y");
  double sum = 0;
  double mean = 0;
  for (std::size_t i = 0; i < density.size(); ++i) {
    sum += density[i];
    mean += density[i] * x[i];
    // Everything the figure shows is on the grid: its edge is empty.
    const bool edge = std::abs(x[i]) == x.back() || std::abs(y[i]) == y.back();
    EXPECT_LT(edge ? density[i] : 0, 0.01);
  }
  EXPECT_NEAR(mean / sum, Banana().mean(0), 0.01);
}

}  // namespace
}  // namespace rehmc::experiments::trajectory_test
