// The search for the path length of HMC: against the best one where that is known.
#include "rehmc/adapt/path_length.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/diagonal_normal.hpp"
#include "models/standard_normal.hpp"

namespace rehmc::path_length_test {
namespace {

KernelSettings hmc() {
  KernelSettings settings;
  settings.kind = KernelKind::hmc;
  return settings;
}

FoundPathLength search(const Density& density, const Tuning& tuning, std::uint64_t seed) {
  const Address address{seed, 0, 0};
  Stream stream(address, Purpose::test);
  std::vector<double> x(density.dimension());
  for (double& each : x) each = stream.normal();
  return find_path_length(density, hmc(), tuning, x, address);
}

// The path of a standard normal turns about the origin: E |x_t - x_0|^2 = 2 d (1 - cos t), and (1 -
// cos t) / t is greatest at t = 2.331. Around it the curve is flat: 2% below at 1.98 and 2.69. The
// mean jump of 20 paths in 200 dimensions has a relative error of about 2%, common to neighbours.
TEST(PathLengthSearch, FindsTheLengthOfAStandardNormal) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const FoundPathLength found = search(StandardNormal(200), {0.1, make_unit_metric(200)}, seed);
    EXPECT_NEAR(found.path_length, 2.331, 0.4) << seed;
    EXPECT_EQ(found.gradients, 20 * 40U + 1) << "the first paths are long enough";
  }
}

// With a unit metric, one coordinate of sd 20 needs paths 20 times as long as the others: where it
// dominates the jumps, the search must make its paths longer than half a turn of the metric.
TEST(PathLengthSearch, MakesPathsLongerWhereTheMetricIsPoor) {
  const std::vector<double> sds{20, 1, 1};
  const FunctionDensity density(3, [&](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      gradient[i] = -x[i] / (sds[i] * sds[i]);
      sum += x[i] * gradient[i] / 2;
    }
    return sum;
  });
  const FoundPathLength found = search(density, {0.5, make_unit_metric(3)}, 1);
  EXPECT_GT(found.path_length, 10);
  EXPECT_LT(found.path_length, 20 * 3.2);
}

// One path of L steps gives the jumps at every l: those of paths of l steps from the same start.
TEST(PathJumps, AreThoseOfShorterPaths) {
  constexpr std::size_t d = 3;
  const Tuning tuning{0.4, make_unit_metric(d)};
  const auto path = [&](int steps, std::uint64_t iteration) {
    KernelSettings settings = hmc();
    settings.hmc.path_steps = steps;
    auto kernel = make_kernel(StandardNormal(d), settings);
    kernel->set_position(std::vector<double>{1, -0.5, 0.2});
    kernel->record_visits(true);
    return kernel->transition(tuning, {1, 0, iteration}).visited.back().state.position[0];
  };
  KernelSettings settings = hmc();
  settings.hmc.path_steps = 9;
  auto kernel = make_kernel(StandardNormal(d), settings);
  kernel->set_position(std::vector<double>{1, -0.5, 0.2});
  kernel->record_visits(true);
  const Transition& longest = kernel->transition(tuning, {1, 0, 7});
  for (int l = 1; l <= 9; ++l) {
    EXPECT_EQ(longest.visited[static_cast<std::size_t>(l)].state.position[0], path(l, 7));
  }
}

// Both rules agree where distances hardly vary, and the squared one prefers longer paths where the
// jumps do.
TEST(PathJumps, HaveTwoRules) {
  constexpr std::size_t d = 200;
  KernelSettings settings = hmc();
  settings.hmc.path_steps = 40;
  auto kernel = make_kernel(StandardNormal(d), settings);
  kernel->set_position(std::vector<double>(d, 0.7));
  kernel->record_visits(true);
  const Tuning tuning{0.1, make_unit_metric(d)};
  PathJumps jumps(40);
  for (std::uint64_t i = 0; i < 50; ++i) {
    jumps.add(kernel->transition(tuning, {3, 0, i}), *tuning.metric);
  }
  EXPECT_NEAR(static_cast<double>(jumps.best(JumpRule::squared)), 23.3, 4);
  EXPECT_NEAR(static_cast<double>(jumps.best(JumpRule::plain)), 23.3, 4);
}

}  // namespace
}  // namespace rehmc::path_length_test
