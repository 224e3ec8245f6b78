// Feature means, summed without storing states, against the sum over stored states.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rehmc/kernel/kernel.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::mechanics_features_test {
namespace {

using testing::address;
using testing::every_kernel;
using testing::kernel_settings;
using testing::Numbers;

constexpr std::size_t dimension = 5;

/// A user's own features, of position, gradient and log density.
class MixedFeatures final : public Features {
 public:
  std::size_t size() const override { return dimension + 2; }
  void add(double weight, const StateView& state, std::span<double> sums) const override {
    for (std::size_t i = 0; i < dimension; ++i) {
      sums[i] += weight * (state.position[i] * state.gradient[i] + 1);  // Stein: mean zero
    }
    sums[dimension] += weight * state.log_density;
    sums[dimension + 1] += weight;
  }
};

/// The features of one state, and the size of their terms.
struct Expected {
  Numbers means;
  Numbers sizes;
};

Expected from_stored_states(const Features& features, const Transition& transition) {
  Expected expected{Numbers(features.size(), 0.0), Numbers(features.size(), 0.0)};
  for (const WeightedState& kept : transition.recycled) {
    Numbers one(features.size(), 0.0);
    features.add(1.0, kept.state, one);
    for (std::size_t i = 0; i < one.size(); ++i) {
      expected.means[i] += kept.weight * one[i];
      expected.sizes[i] += kept.weight * std::abs(one[i]);
    }
  }
  return expected;
}

void expect_means_of_stored_states(Kernel& kernel, const Features& features, const Tuning& tuning,
                                   std::uint64_t first, std::uint64_t last) {
  kernel.use_features(&features);
  for (std::uint64_t i = first; i < last; ++i) {
    const Transition& transition = kernel.transition(tuning, address(i));
    const Expected expected = from_stored_states(features, transition);
    ASSERT_EQ(transition.feature_means.all.size(), features.size());
    const double tolerance = 8 * static_cast<double>(transition.recycled.size() + 8) *
                             std::numeric_limits<double>::epsilon();
    for (std::size_t k = 0; k < features.size(); ++k) {
      ASSERT_NEAR(transition.feature_means.all[k], expected.means[k], tolerance * expected.sizes[k])
          << "transition " << i << ", feature " << k;
    }
  }
}

// Divergences drop halves; depth limits and turns end trees of all sizes.
TEST(FeatureMeans, AreThoseOfTheStoredStates) {
  const MomentFeatures moments(Numbers(dimension, 0.3));
  const CovarianceFeatures covariances(Numbers(dimension, -0.2));
  const MixedFeatures mixed;
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    auto kernel = testing::kernel_at_start(testing::Walled(dimension, 1.5, Fault::not_a_number),
                                           kernel_settings(kind, {RecyclingKind::all}));
    const Tuning tuning = testing::diagonal_tuning(dimension, 0.2);
    expect_means_of_stored_states(*kernel, moments, tuning, 0, 150);
    expect_means_of_stored_states(*kernel, covariances, tuning, 150, 300);
    expect_means_of_stored_states(*kernel, mixed, tuning, 300, 450);
  }
}

// From far out in a tail the weights relative to the start exceed what a double can hold: the sums
// are rescaled on the way.
TEST(FeatureMeans, SurviveAHugeFallOfEnergy) {
  const MomentFeatures moments(Numbers(dimension, 0.3));
  const MixedFeatures mixed;
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    double greatest_fall = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
      auto kernel =
          make_kernel(testing::Bumpy(dimension), kernel_settings(kind, {RecyclingKind::all}));
      // On the steep slope here, a step of 0.05 is so long that H falls by more than 1000 on the
      // way down (by step^2/24 |gradient|^2 to leading order).
      kernel->set_position(Numbers(dimension, 24.0));
      const Tuning tuning = testing::diagonal_tuning(dimension, 0.05);
      expect_means_of_stored_states(*kernel, i % 2 ? static_cast<const Features&>(moments) : mixed,
                                    tuning, i, i + 1);
      if (HasFatalFailure()) return;
      auto again = make_kernel(testing::Bumpy(dimension), kernel_settings(kind, {}));
      again->set_position(Numbers(dimension, 24.0));
      greatest_fall = std::max(greatest_fall, -again->transition(tuning, address(i)).energy_error);
    }
    EXPECT_GT(greatest_fall, 1000);
  }
}

TEST(FeatureMeans, CanBeTurnedOffAndOnAgain) {
  const MomentFeatures moments(Numbers(dimension, 0.3));
  auto kernel = testing::kernel_at_start(testing::Bumpy(dimension), {});
  const Tuning tuning = testing::diagonal_tuning(dimension, 0.2);
  kernel->use_features(&moments);
  EXPECT_EQ(kernel->transition(tuning, address(0)).feature_means.all.size(), 2 * dimension);
  kernel->use_features(nullptr);
  EXPECT_TRUE(kernel->transition(tuning, address(1)).feature_means.all.empty());
  kernel->use_features(&moments);
  EXPECT_EQ(kernel->transition(tuning, address(2)).feature_means.all.size(), 2 * dimension);
}

}  // namespace
}  // namespace rehmc::mechanics_features_test
