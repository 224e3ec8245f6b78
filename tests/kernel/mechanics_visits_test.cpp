// The visits that a kernel records in a transition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernel/mechanics.hpp"

namespace rehmc::testing::mechanics_visits_test {
namespace {

constexpr std::size_t dimension = 3;
constexpr double step_size = 0.35;

bool same_position(const StateView& a, const StateView& b) {
  return std::ranges::equal(a.position, b.position);
}

/// Visits textbook leapfrog steps from the start, one by one.
template <class D>
void expect_steps_apart(const Transition& transition, const PlainPoint& start, const D& density) {
  const Numbers inverse_mass = variances(dimension);
  for (const int sign : {-1, 1}) {
    PlainPoint point = start;
    for (std::int64_t place = sign;; place += sign) {
      const auto found = std::ranges::find(transition.visited, place, &VisitedState::place);
      if (found == transition.visited.end()) break;
      point = plain_leapfrog(density, inverse_mass, sign * step_size, point);
      for (std::size_t i = 0; i < dimension; ++i) {
        ASSERT_NEAR(found->state.position[i], point.x[i], 1e-9) << "place " << place;
      }
    }
  }
}

void expect_consistent(const Transition& transition, const StateView& start, KernelKind kind) {
  std::uint32_t slots = 0;
  double total = 0;
  int selected = 0;
  for (std::size_t i = 0; i < transition.visited.size(); ++i) {
    const VisitedState& visited = transition.visited[i];
    if (i > 0) {
      ASSERT_EQ(visited.place, transition.visited[i - 1].place + 1);
    }
    if (visited.place == 0) {
      ASSERT_TRUE(same_position(visited.state, start));
    }
    if (visited.dropped) {
      ASSERT_EQ(visited.weight, 0);
      ASSERT_EQ(visited.slots, 0U);
      ASSERT_FALSE(visited.selected);
    }
    const auto recycled = std::ranges::count_if(transition.recycled, [&](const auto& kept) {
      return kept.state.position.data() == visited.state.position.data();
    });
    ASSERT_EQ(visited.slots, static_cast<std::uint32_t>(recycled));
    if (visited.selected) {
      ASSERT_TRUE(same_position(visited.state, transition.state));
    }
    slots += visited.slots;
    total += visited.weight;
    selected += visited.selected;
  }
  // Of two divergent steps, the last is shown.
  const std::size_t missing = transition.leapfrogs + 1 - transition.visited.size();
  ASSERT_LE(missing, most_divergences(kind) - 1);
  ASSERT_TRUE(missing == 0 || transition.ending == Ending::diverged);
  ASSERT_EQ(slots, transition.recycled.size());
  ASSERT_NEAR(total, 1, 1e-12);
  ASSERT_EQ(selected, 1);
  const auto dropped = std::ranges::count(transition.visited, true, &VisitedState::dropped);
  const bool half_dropped =
      transition.ending == Ending::turned_inside || transition.ending == Ending::diverged;
  ASSERT_EQ(dropped > 0, half_dropped);
  if (traits(kind).shape == TrajectoryShape::tree) {
    ASSERT_EQ(transition.visited.size() - static_cast<std::size_t>(dropped),
              std::size_t{1} << transition.depth);
  }
}

// Every step is recorded, at its position, with its weight and slots; a wall makes some transitions
// diverge.
TEST(Visits, AreAllStepsOfTheTransition) {
  const Walled density(dimension, 1.2, Fault::negative_infinity);
  const Tuning tuning = diagonal_tuning(dimension, step_size);
  for (const KernelKind kind : every_kernel) {
    std::vector<int> endings(5, 0);
    for (const Recycling& recycling : every_recycling(kind)) {
      SCOPED_TRACE(std::string(describe(kind)) + ", " + describe(recycling));
      const auto kernel = kernel_at_start(density, kernel_settings(kind, recycling));
      kernel->record_visits(true);
      for (std::uint64_t n = 0; n < 60; ++n) {
        const Numbers position = copy(kernel->state().position);
        const Numbers gradient = copy(kernel->state().gradient);
        const StateView start{position, gradient, kernel->state().log_density};
        const PlainPoint point = start_of_transition(start, *tuning.metric, address(n));
        const Transition& transition = kernel->transition(tuning, address(n));
        ++endings.at(static_cast<std::size_t>(transition.ending));
        expect_consistent(transition, start, kind);
        expect_steps_apart(transition, point, density);
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(endings[static_cast<std::size_t>(Ending::diverged)], 0);
  }
}

TEST(Visits, HaveTheWeightsOfAllStates) {
  const Bumpy density(dimension);
  const Tuning tuning = diagonal_tuning(dimension, step_size);
  for (const KernelKind kind : every_kernel) {
    const auto kernel = kernel_at_start(density, kernel_settings(kind, parse_recycling("all")));
    kernel->record_visits(true);
    for (std::uint64_t n = 0; n < 60; ++n) {
      const Transition& transition = kernel->transition(tuning, address(n));
      for (const VisitedState& visited : transition.visited) {
        double weight = 0;
        for (const WeightedState& kept : transition.recycled) {
          if (kept.state.position.data() == visited.state.position.data()) weight += kept.weight;
        }
        ASSERT_NEAR(visited.weight, weight, 1e-14);
      }
    }
  }
}

TEST(Visits, ChangeNothingElse) {
  const Bumpy density(dimension);
  const Tuning tuning = diagonal_tuning(dimension, step_size);
  const MomentFeatures features(Numbers(dimension, 0.0));
  for (const KernelKind kind : every_kernel) {
    const KernelSettings settings = kernel_settings(kind, parse_recycling("spread:8"));
    const auto plain = kernel_at_start(density, settings);
    const auto recorded = kernel_at_start(density, settings);
    recorded->record_visits(true);
    for (std::uint64_t n = 0; n < 30; ++n) {
      if (n == 10) plain->use_features(&features);
      if (n == 10) recorded->use_features(&features);
      const Transition& a = plain->transition(tuning, address(n));
      const Transition& b = recorded->transition(tuning, address(n));
      ASSERT_TRUE(a.visited.empty());
      ASSERT_EQ(copy(a.state.position), copy(b.state.position));
      ASSERT_EQ(copy(a.feature_means.all), copy(b.feature_means.all));
      ASSERT_EQ(a.recycled.size(), b.recycled.size());
      for (std::size_t k = 0; k < a.recycled.size(); ++k) {
        ASSERT_TRUE(same_position(a.recycled[k].state, b.recycled[k].state));
      }
    }
  }
}

}  // namespace
}  // namespace rehmc::testing::mechanics_visits_test
