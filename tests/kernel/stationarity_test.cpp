// From exact draws of the target, coarse transitions of every kind lead to draws of the target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "law_targets.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc::testing::stationarity_test {
namespace {

class Stationarity : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  const LawTarget& target() const { return law_targets()[std::get<0>(GetParam())]; }
  const Variant& variant() const { return variants()[std::get<1>(GetParam())]; }

  /// A number for every case, so that no two share random numbers.
  std::uint32_t chain(std::size_t recycling) const {
    const auto [target, variant] = GetParam();
    return static_cast<std::uint32_t>((target * 100 + variant) * 100 + recycling);
  }

  CaseScores run(const Recycling& recycling, std::uint32_t chain_number);
};

/// The average over the kept states is that over all states only if all are kept.
void expect_difference(const Recycling& recycling, const CaseScores& scores, double largest) {
  if (recycling.kind == RecyclingKind::all) {
    EXPECT_LT(largest, 1e-9);
  } else if (scores.kept_less_all) {
    EXPECT_GT(largest, 0.1);
  }
}

CaseScores Stationarity::run(const Recycling& recycling, std::uint32_t chain_number) {
  const Observables& observables = target().observables;
  const std::span<const double> expectations = observables.expectations();
  const std::size_t size = observables.size();
  KernelSettings settings;
  settings.kind = variant().kind;
  settings.recycling = recycling;
  settings.hmc = variant().hmc;
  settings.nuts = variant().nuts;
  const bool path = traits(settings.kind).shape == TrajectoryShape::path;
  const double step_size = path ? target().hmc_step_size : target().nuts_step_size;
  const Tuning tuning{variant().step_factor * step_size, target().metric};
  settings.hmc.path_length *= tuning.step_size;
  const auto kernel = make_kernel(target().density, settings);
  kernel->use_features(&observables);

  CaseScores scores(recycling, size);
  std::vector<double> x(target().density.dimension());
  std::vector<double> values(size);
  double acceptance = 0;
  double largest_difference = 0;
  const std::uint64_t replicates = variant().replicates * replicate_factor();
  for (std::uint64_t r = 0; r < replicates; ++r) {
    Stream start({seed, chain_number, r}, Purpose::test);
    target().sample(start, x);
    kernel->set_position(x);
    std::vector<double> all_states(size, 0.0);
    std::vector<double> recycled(size, 0.0);
    std::vector<double> difference(size, 0.0);
    for (std::uint64_t t = 0; t < transitions; ++t) {
      const Transition& transition =
          kernel->transition(tuning, {seed, chain_number, r * transitions + t});
      acceptance += transition.acceptance;
      std::fill(values.begin(), values.end(), 0.0);
      for (const WeightedState& kept : transition.recycled) {
        observables.add(kept.weight, kept.state, values);
      }
      // Draws count by their mass (Theorem 2 of Nishimura & Dunson 2020), so the expectation of
      // this is zero.
      add_deviation(recycled, transition.mass, values, expectations);
      add_deviation(all_states, transition.mass, transition.feature_means.all, expectations);
      add_deviation(difference, transition.mass, values, transition.feature_means.all);
    }
    std::fill(values.begin(), values.end(), 0.0);
    observables.add(1, kernel->state(), values);
    std::vector<double> plain(size, 0.0);
    add_deviation(plain, 1, values, expectations);
    scores.plain.add(plain);
    scores.all_states.add(all_states);
    scores.recycled.add(recycled);
    if (scores.kept_less_all) scores.kept_less_all->add(difference);
    for (const double d : difference)
      largest_difference = std::max(largest_difference, std::abs(d));
  }
  // Small steps would hide errors.
  acceptance /= static_cast<double>(replicates * transitions);
  EXPECT_GT(acceptance, variant().least_acceptance);
  EXPECT_LT(acceptance, variant().most_acceptance);
  expect_difference(recycling, scores, largest_difference);
  return scores;
}

TEST_P(Stationarity, Holds) {
  const std::vector<Recycling> all = recyclings(variant());
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(describe(all[i]));
    const CaseScores scores = run(all[i], chain(i));
    const Observables& observables = target().observables;
    EXPECT_TRUE(follows_law(scores.plain, observables)) << "of the chain's own state";
    EXPECT_TRUE(follows_law(scores.all_states, observables)) << "of all states";
    EXPECT_TRUE(follows_law(scores.recycled, observables)) << "of the kept states";
    if (scores.kept_less_all) {
      EXPECT_TRUE(follows_law(*scores.kept_less_all, observables)) << "of kept less all states";
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Stationarity::ParamType>& parameter) {
  const auto [target, variant] = parameter.param;
  return law_targets()[target].name + variants()[variant].name;
}

INSTANTIATE_TEST_SUITE_P(Law, Stationarity,
                         ::testing::Combine(::testing::Range<std::size_t>(0, target_count),
                                            ::testing::Range<std::size_t>(0, variants().size())),
                         name_of);

}  // namespace
}  // namespace rehmc::testing::stationarity_test
