// The statistics of a transition: counts, energies, acceptance, path lengths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::mechanics_statistics_test {
namespace {

using testing::address;
using testing::Bumpy;
using testing::copy;
using testing::every_kernel;
using testing::kernel_at_start;
using testing::kernel_settings;
using testing::Numbers;
using testing::PlainPoint;

constexpr std::size_t dimension = 5;
constexpr double step_size = 0.35;
constexpr std::uint64_t transitions = 200;

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

TEST(Statistics, OneGradientPerLeapfrogAndNoneTwice) {
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    auto kernel = kernel_at_start(testing::Walled(dimension, 1.5, Fault::exception),
                                  kernel_settings(kind, {}));
    EXPECT_EQ(kernel->guard().evaluations(), 1U);  // where it starts
    std::uint64_t before = 1;
    std::uint64_t divergences = 0;
    for (std::uint64_t i = 0; i < transitions; ++i) {
      const Transition& transition =
          kernel->transition(testing::diagonal_tuning(dimension, step_size), address(i));
      ASSERT_EQ(kernel->guard().evaluations() - before, transition.leapfrogs);
      before = kernel->guard().evaluations();
      divergences += transition.ending == Ending::diverged;
    }
    EXPECT_GT(divergences, 0U);
    EXPECT_GE(kernel->guard().faults(Fault::exception), divergences);
    EXPECT_LE(kernel->guard().faults(Fault::exception),
              divergences * testing::most_divergences(kind));
  }
}

TEST(Statistics, LeapfrogsFitTheDepthAndTheEnding) {
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice}) {
    SCOPED_TRACE(describe(kind));
    KernelSettings settings = kernel_settings(kind, {});
    settings.nuts.max_depth = 4;
    auto kernel = kernel_at_start(testing::Walled(dimension, 1.5, Fault::not_a_number), settings);
    std::map<Ending, int> seen;
    for (std::uint64_t i = 0; i < 4 * transitions; ++i) {
      const Transition& transition = kernel->transition(
          testing::diagonal_tuning(dimension, i % 2 ? step_size : 0.12), address(i));
      ++seen[transition.ending];
      const std::uint32_t kept = (1U << transition.depth) - 1;
      const std::uint32_t doubled = 2 * kept + 1;
      switch (transition.ending) {
        case Ending::turned:
          ASSERT_EQ(transition.leapfrogs, kept);
          ASSERT_GE(transition.depth, 1);
          break;
        case Ending::depth_limit:
          ASSERT_EQ(transition.depth, 4);
          ASSERT_EQ(transition.leapfrogs, kept);
          break;
        case Ending::turned_inside:
        case Ending::diverged:
          ASSERT_GT(transition.leapfrogs, kept);
          ASSERT_LE(transition.leapfrogs, doubled);
          ASSERT_LT(transition.depth, 4);
          break;
        case Ending::completed:
          FAIL() << "a tree does not complete";
      }
      ASSERT_DOUBLE_EQ(transition.path_length, transition.leapfrogs * transition.step_size);
      ASSERT_GE(transition.acceptance, 0);
      ASSERT_LE(transition.acceptance, 1);
      ASSERT_EQ(transition.mass, 1);
    }
    EXPECT_GT(seen[Ending::turned], 0);
    EXPECT_GT(seen[Ending::turned_inside], 0);
    EXPECT_GT(seen[Ending::diverged], 0);
    EXPECT_GT(seen[Ending::depth_limit], 0);
  }
}

/// The states within `steps` steps of the start, by the textbook; index `steps` is the start.
std::vector<PlainPoint> plain_trajectory(const Bumpy& target, const PlainPoint& start, int steps) {
  std::vector<PlainPoint> trajectory{start};
  const Numbers inverse_mass = testing::variances(dimension);
  for (const double sign : {-1.0, 1.0}) {
    for (int n = 0; n < steps; ++n) {
      trajectory.push_back(
          plain_leapfrog(target, inverse_mass, sign * step_size, trajectory.back()));
    }
    if (sign < 0) std::reverse(trajectory.begin(), trajectory.end());
  }
  return trajectory;
}

// The next state lies on the trajectory of the momentum that belongs to the address, and its energy
// is the one it has there.
TEST(Statistics, EnergiesAreThoseOfTheTrajectory) {
  const Bumpy target(dimension);
  const Numbers inverse_mass = testing::variances(dimension);
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    KernelSettings settings = kernel_settings(kind, {RecyclingKind::all});
    settings.nuts.max_depth = 5;
    auto kernel = kernel_at_start(target, settings);
    const Tuning tuning = testing::diagonal_tuning(dimension, step_size);
    int moved = 0;
    for (std::uint64_t i = 0; i < transitions; ++i) {
      const PlainPoint start =
          testing::start_of_transition(kernel->state(), *tuning.metric, address(i));
      const Transition& transition = kernel->transition(tuning, address(i));
      const double start_energy = start.energy(inverse_mass);
      ASSERT_NEAR(transition.energy - transition.energy_error, start_energy,
                  1e-12 * (1 + std::abs(start_energy)));
      const auto trajectory = plain_trajectory(target, start, 32);
      const auto nearest = std::ranges::min_element(trajectory, {}, [&](const PlainPoint& point) {
        return distance(point.x, transition.state.position);
      });
      ASSERT_LT(distance(nearest->x, transition.state.position), 1e-10);
      ASSERT_NEAR(nearest->energy(inverse_mass), transition.energy, 1e-10);
      moved += distance(start.x, transition.state.position) > 0;

      // The same for the weights of all states: exp(H0 - H), or the expectation of a coin (a_k /
      // L).
      double rejected = 0;
      for (const WeightedState& kept : transition.recycled) {
        const auto found = std::ranges::min_element(trajectory, {}, [&](const PlainPoint& point) {
          return distance(point.x, kept.state.position);
        });
        ASSERT_LT(distance(found->x, kept.state.position), 1e-10);
        const double error = found->energy(inverse_mass) - start_energy;
        if (kind == KernelKind::nuts || kind == KernelKind::symmetric) {
          const auto at_start = std::ranges::find_if(
              transition.recycled,
              [&](const WeightedState& other) { return copy(other.state.position) == start.x; });
          ASSERT_NEAR(kept.weight, at_start->weight * std::exp(-error), 1e-9);
        } else if (kind == KernelKind::hmc && found->x != start.x) {
          const double acceptance = std::min(1.0, std::exp(-error));
          rejected += (1 - acceptance) / transition.leapfrogs;
          ASSERT_NEAR(kept.weight, acceptance / transition.leapfrogs, 1e-9);
        }
      }
      if (kind == KernelKind::hmc) {
        for (const WeightedState& kept : transition.recycled) {
          if (copy(kept.state.position) != start.x) continue;
          ASSERT_NEAR(kept.weight, rejected, 1e-9);
        }
      }
    }
    EXPECT_GT(moved, static_cast<int>(transitions / 2));
  }
}

// Paths: min(1, exp(H0 - H)) of the end; NUTS: its mean over all steps. Windows of one state are
// ends.
TEST(Statistics, AcceptanceIsThatOfTheSteps) {
  const Bumpy target(dimension);
  const Numbers inverse_mass = testing::variances(dimension);
  const Tuning tuning = testing::diagonal_tuning(dimension, 0.8);
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    KernelSettings settings = kernel_settings(kind, {RecyclingKind::all});
    // One step, forward or backward, except where the direction is known.
    settings.hmc.path_steps = kind == KernelKind::symmetric ? 1 : 3;
    settings.nuts.max_depth = 1;
    auto kernel = kernel_at_start(target, settings);
    double least = 1;
    for (std::uint64_t i = 0; i < transitions; ++i) {
      const PlainPoint start =
          testing::start_of_transition(kernel->state(), *tuning.metric, address(i));
      const Transition& transition = kernel->transition(tuning, address(i));
      const auto acceptance_after = [&](double step, std::uint32_t steps) {
        PlainPoint end = start;
        for (std::uint32_t n = 0; n < steps; ++n) {
          end = plain_leapfrog(target, inverse_mass, step, end);
        }
        return std::min(1.0, std::exp(start.energy(inverse_mass) - end.energy(inverse_mass)));
      };
      const double forward = acceptance_after(0.8, transition.leapfrogs);
      const double backward = acceptance_after(-0.8, transition.leapfrogs);
      const double nearer =
          std::abs(transition.acceptance - forward) < std::abs(transition.acceptance - backward) ||
                  kind == KernelKind::hmc || kind == KernelKind::windows
              ? forward
              : backward;
      ASSERT_NEAR(transition.acceptance, nearer, 1e-11);
      least = std::min(least, transition.acceptance);
    }
    EXPECT_LT(least, 0.9);
  }
}

std::uint32_t leapfrogs_of(const HmcSettings& path, double step, std::uint64_t iteration) {
  KernelSettings settings = kernel_settings(KernelKind::hmc, {});
  settings.hmc = path;
  auto kernel = kernel_at_start(Bumpy(2), settings);
  return kernel->transition(testing::diagonal_tuning(2, step), address(iteration)).leapfrogs;
}

TEST(PathLength, IsRoundedToWholeStepsAndAtLeastOne) {
  HmcSettings path;
  path.jitter_least = path.jitter_most = 1;
  for (const double tau : {0.001, 0.04, 0.06, 0.14, 0.16, 0.5, 1.234}) {
    path.path_length = tau;
    const double expected = std::max(1.0, std::round(tau / 0.1));
    EXPECT_EQ(leapfrogs_of(path, 0.1, 0), expected) << tau;
  }
  path.path_length = 1e9;
  path.max_steps = 17;
  EXPECT_EQ(leapfrogs_of(path, 0.1, 0), 17U);
  path.path_length = 1e308;
  EXPECT_EQ(leapfrogs_of(path, 1e-6, 0), 17U);  // the quotient overflows
}

// The paper's jitters. Chi-square with 2000 draws; false alarms 1e-6 for both together, by the
// normal approximation of Wilson and Hilferty (1931).
TEST(PathLength, JitterIsUniform) {
  for (const auto& [least, most] : {std::pair{0.9, 1.1}, std::pair{0.5, 1.0}}) {
    HmcSettings path;
    path.path_length = 2.0;
    path.jitter_least = least;
    path.jitter_most = most;
    constexpr int draws = 2000;
    std::map<std::uint32_t, int> counts;
    KernelSettings settings = kernel_settings(KernelKind::hmc, {});
    settings.hmc = path;
    auto kernel = kernel_at_start(Bumpy(2), settings);
    for (std::uint64_t i = 0; i < draws; ++i) {
      const Transition& transition =
          kernel->transition(testing::diagonal_tuning(2, 0.1), address(i));
      ++counts[transition.leapfrogs];
      ASSERT_DOUBLE_EQ(transition.path_length, transition.leapfrogs * 0.1);
    }
    const double low = least * 20;
    const double high = most * 20;
    double chi_square = 0;
    double cells = 0;
    for (double steps = std::round(low); steps <= std::round(high); ++steps) {
      const double share =
          (std::min(high, steps + 0.5) - std::max(low, steps - 0.5)) / (high - low);
      if (share < 1e-9) continue;
      const double expected = draws * share;
      const double found = counts[static_cast<std::uint32_t>(steps)];
      counts.erase(static_cast<std::uint32_t>(steps));
      chi_square += (found - expected) * (found - expected) / expected;
      ++cells;
    }
    EXPECT_TRUE(counts.empty()) << counts.begin()->first << " steps are outside the range";
    const double k = cells - 1;
    const double z = (std::cbrt(chi_square / k) - (1 - 2 / (9 * k))) / std::sqrt(2 / (9 * k));
    EXPECT_LT(z, -normal_quantile(0.5e-6));
  }
}

TEST(PathLength, StepsFixedOrUniformOnARange) {
  HmcSettings path;
  path.path_steps = 4;
  EXPECT_EQ(leapfrogs_of(path, 0.1, 0), 4U);
  EXPECT_EQ(leapfrogs_of(path, 0.01, 1), 4U);
  path.path_steps_most = 4;
  EXPECT_EQ(leapfrogs_of(path, 0.1, 0), 4U);

  path.path_steps_most = 7;
  constexpr int draws = 1000;
  std::map<std::uint32_t, int> counts;
  for (std::uint64_t i = 0; i < draws; ++i) ++counts[leapfrogs_of(path, 0.1, i)];
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [steps, count] : counts) {
    EXPECT_GE(steps, 4U);
    EXPECT_LE(steps, 7U);
    // Binomial(1000, 1/4), false alarms 1e-6 over the four of them.
    EXPECT_NEAR(count, draws / 4.0, -normal_quantile(1e-6 / 8) * std::sqrt(draws * 3.0 / 16));
  }
  path.max_steps = 5;
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_LE(leapfrogs_of(path, 0.1, i), 5U);
}

// Theorem 2 of Nishimura & Dunson (2020): a draw counts as many times as its path has steps.
TEST(PathLength, IsTheMassOfADraw) {
  for (const bool by_steps : {false, true}) {
    KernelSettings settings = kernel_settings(KernelKind::hmc, {});
    settings.hmc.weight_by_draws = !by_steps;
    auto kernel = kernel_at_start(testing::Walled(2, 1.5, Fault::not_a_number), settings);
    bool cut = false;
    for (std::uint64_t i = 0; i < transitions; ++i) {
      const Transition& transition =
          kernel->transition(testing::diagonal_tuning(2, 0.1), address(i));
      const double steps = std::round(transition.path_length / 0.1);
      EXPECT_EQ(transition.mass, by_steps ? steps : 1.0);
      cut = cut || transition.leapfrogs < steps;  // a divergence does not make a draw lighter
    }
    EXPECT_TRUE(cut);
  }
}

}  // namespace
}  // namespace rehmc::mechanics_statistics_test
