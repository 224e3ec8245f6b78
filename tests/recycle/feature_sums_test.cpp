// Feature sums over whole trajectories equal those over stored states, to round-off.
#include "rehmc/recycle/feature_sums.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehmc/recycle/features.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "tests/recycle/tally.hpp"
#include "tests/trajectory/integer_path.hpp"
#include "tests/trajectory/integers.hpp"
#include "tests/trajectory/worlds.hpp"

namespace rehmc::exact::feature_sums_test {
namespace {

constexpr std::size_t dimension = 5;

/// Integers with a position and a gradient each. A state that has been released cannot be read.
class VectorStates : public IntegerStates {
 public:
  explicit VectorStates(int size) : IntegerStates(size) {
    for (int i = 0; i < size; ++i) {
      std::array<double, 2 * dimension>& numbers = vectors_.emplace_back();
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        numbers[k] = std::sin(1 + 0.7 * i * static_cast<double>(k + 1)) + static_cast<double>(k);
      }
    }
  }
  StateView view(int state) {
    EXPECT_GT(references(state), 0);
    const std::span<const double> numbers = vectors_.at(static_cast<std::size_t>(state));
    return {numbers.first(dimension), numbers.last(dimension), 0.5 * state};
  }

 private:
  std::vector<std::array<double, 2 * dimension>> vectors_;
};

/// Reads all that a state has: a sum over position times gradient, and the log density.
class MixedFeatures final : public Features {
 public:
  std::size_t size() const override { return 2; }
  void add(double weight, const StateView& state, std::span<double> sums) const override {
    for (std::size_t i = 0; i < dimension; ++i) {
      sums[0] += weight * state.position[i] * state.gradient[i];
    }
    sums[1] += weight * state.log_density;
  }
};

struct NamedFeatures {
  const char* name;
  const Features& features;
};

/// Sums while something is walked, once as production does and once over the stored states.
template <class Walk>
void expect_sums_of_stored_states(int size, const Features& features, Walk&& walk) {
  VectorStates states(size);
  KeepEvery<VectorStates> every(states);
  FeatureSums<VectorStates> sums(states);
  EXPECT_FALSE(sums.active());
  sums.use(&features);
  EXPECT_TRUE(sums.active());
  KeepAll keeper(every, sums);
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first time must leave no trace
    every.begin(Stream({}, Purpose::test));
    sums.begin();
    walk(states, keeper);
    const std::span<const double> means = sums.finish().all;
    std::vector<double> expected(features.size(), 0.0);
    std::vector<double> magnitude(features.size(), 0.0);
    for (const auto& entry : every.finish()) {
      std::vector<double> one(features.size(), 0.0);
      features.add(1, states.view(entry.state), one);
      for (std::size_t i = 0; i < one.size(); ++i) {
        expected[i] += entry.weight * one[i];
        magnitude[i] += entry.weight * std::abs(one[i]);
      }
    }
    ASSERT_EQ(means.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(means[i], expected[i], 1e-13 * magnitude[i]);
    }
    every.clear();
    ASSERT_EQ(states.in_use(), 0);
  }
}

/// Calls `test(features)` for every kind of features.
template <class Test>
void for_each_features(Test&& test) {
  const std::vector<double> centre{0.1, -2, 3, 0, 1.5};
  test(MomentFeatures(centre));
  test(CovarianceFeatures(centre));
  test(GradientMomentFeatures(centre));
  test(MixedFeatures());
}

void expect_sums_of_trees(const World& world, bool slice) {
  for_each_features([&](const Features& features) {
    for (int start = 0; start < world.size(); start += 3) {
      if (world.diverges(start)) continue;
      for_each_tree(world, slice, start, 4, [&](const Trajectory& trajectory, const ExpectedTree&) {
        expect_sums_of_stored_states(world.size(), features, [&](auto& states, auto& keeper) {
          NoSelection selection;
          grow_tree(world, states, trajectory, 4, selection, keeper);
        });
      });
    }
  });
}

TEST(FeatureSums, OfTreesEqualThoseOfStoredStates) {
  expect_sums_of_trees(bumpy_world(34), false);
  expect_sums_of_trees(bumpy_world(34), true);
  for (const World& world : strewn_worlds(20, 0, 10)) expect_sums_of_trees(world, false);
  for (const World& world : strewn_worlds(20, 1, 10)) expect_sums_of_trees(world, true);
}

// Huge weights: the sums are rescaled on the way, halves are dropped after a rescaling.
TEST(FeatureSums, OfSteepTreesEqualThoseOfStoredStates) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const double spread = seed % 2 == 0 ? 700 : 5000;
    expect_sums_of_trees(
        random_world({.size = 20, .spread = spread, .turning = 0.1, .divergent = 0.05}, seed),
        false);
  }
}

TEST(FeatureSums, OfPathsEqualThoseOfStoredStates) {
  for_each_features([&](const Features& features) {
    for (const World& world : strewn_worlds(16, 0, 12)) {
      for (int start = 0; start < world.size(); ++start) {
        if (world.diverges(start)) continue;
        for (const int steps : {1, 2, 5, 8, 11}) {
          for (const int sign : {-1, 1}) {
            expect_sums_of_stored_states(world.size(), features, [&](auto& states, auto& keeper) {
              walk_integers(world, states, {start, sign, steps}, keeper,
                            [](std::uint64_t, int, double) {});
            });
          }
        }
      }
    }
  });
}

TEST(Features, AreWhatTheySay) {
  const std::vector<double> x{1.5, -0.25, 4};
  const std::vector<double> centre{1, 0.5, 2};
  const StateView state{x, x, 0};
  const MomentFeatures moments(centre);
  std::vector<double> sums(moments.size(), 1.0);
  moments.add(2, state, sums);
  EXPECT_EQ(sums, (std::vector<double>{1 + 2 * 0.5, 1 - 2 * 0.75, 1 + 2 * 2.0,  //
                                       1 + 2 * 0.25, 1 + 2 * 0.5625, 1 + 2 * 4.0}));
  const std::vector<double> gradient{3, -1, 0.5};
  const GradientMomentFeatures with_gradient(centre);
  std::vector<double> more(with_gradient.size(), 1.0);
  with_gradient.add(2, {x, gradient, 0}, more);
  std::vector<double> expected = sums;
  for (const double product : {2 * 3.0, 2 * -1.0, 2 * 0.5,          //
                               2 * 0.5 * 3, 2 * 0.75, 2 * 2 * 0.5,  //
                               2 * 0.25 * 3, -2 * 0.5625, 2 * 4 * 0.5}) {
    expected.push_back(1 + product);
  }
  EXPECT_EQ(more, expected);

  const GradientMomentFeatures doubled(centre, [](auto given, auto mapped) {
    for (std::size_t i = 0; i < given.size(); ++i) mapped[i] = 2 * given[i];
  });
  std::vector<double> twice(doubled.size(), 1.0);
  doubled.add(2, {x, gradient, 0}, twice);
  for (std::size_t i = 0; i < twice.size(); ++i) {
    EXPECT_EQ(twice[i], i < 2 * centre.size() ? more[i] : 2 * more[i] - 1);
  }
  const CovarianceFeatures covariance(centre);
  std::vector<double> products(covariance.size(), 1.0);
  covariance.add(2, state, products);
  EXPECT_EQ(products, (std::vector<double>{1 + 2 * 0.5, 1 - 2 * 0.75, 1 + 2 * 2.0,  //
                                           1 + 2 * 0.25,                            //
                                           1 - 2 * 0.375, 1 + 2 * 0.5625,           //
                                           1 + 2 * 1.0, 1 - 2 * 1.5, 1 + 2 * 4.0}));
}

/// States far from the centre of the features.
class FarStates {
 public:
  using Handle = std::size_t;
  static constexpr double offset = 1e6;

  void retain(Handle) {}
  void release(Handle) {}
  StateView view(Handle state) {
    position_.fill(state % 2 == 0 ? offset : -3 * offset);
    gradient_.fill(2);
    return {position_, gradient_, 0};
  }

 private:
  std::array<double, dimension> position_{};
  std::array<double, dimension> gradient_{};
};

// A weight may come near its limit without a scale of its own: its products with squared
// coordinates, summed over a deep tree, must still be far from overflow.
TEST(FeatureSums, StayFiniteJustBelowTheLimitOfWeights) {
  const double below = std::nextafter(log_weight_limit, 0);
  const Weight weight = multinomial_weight(-below);
  ASSERT_EQ(weight.log_scale, 0);
  constexpr std::size_t leaves = 1024;
  FarStates states;
  FeatureSums<FarStates> sums(states);
  const GradientMomentFeatures features(std::vector<double>(dimension, 0.0));
  sums.use(&features);
  sums.begin();
  sums.start(0, 1.0);
  sums.begin_half(Direction::forward, leaves);
  for (std::size_t k = 0; k < leaves; ++k) sums.leaf(0, weight.value);
  sums.leaf(1, weight.value);
  sums.commit(Direction::forward, 1, 1);
  const FeatureMeans means = sums.finish();
  const double n = leaves + 1;
  const double first = FarStates::offset * (leaves - 3) / n;
  const double second = FarStates::offset * FarStates::offset * (leaves + 9) / n;
  for (std::size_t i = 0; i < dimension; ++i) {
    EXPECT_NEAR(means.first[i], first, 1e-12 * first);
    EXPECT_NEAR(means.second[i], second, 1e-12 * second);
    EXPECT_NEAR(means.gradient[i], 2, 1e-12);
    EXPECT_NEAR(means.first_gradient[i], 2 * first, 1e-12 * first);
    EXPECT_NEAR(means.second_gradient[i], 2 * second, 1e-12 * second);
  }
}

}  // namespace
}  // namespace rehmc::exact::feature_sums_test
