// Quantities of a transition: of the next state and of kept states, and failures.
#include "rehmc/output/quantity_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/kernel/mechanics.hpp"

namespace rehmc::quantity_reader_test {
namespace {

using testing::address;

constexpr int transitions = 40;

/// Its quantities are the square of the first coordinate and noise, with no noise where that
/// coordinate is above a limit. It uses more random numbers on one side than on the other.
struct Noisy : testing::Bumpy {
  explicit Noisy(double most) : Bumpy(2), limit(most) {}
  std::vector<Quantity> quantities() const { return {{"square"}, {"noise", {}, true}}; }
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const {
    values[0] = x[0] * x[0];
    values[1] = std::nan("");
    if (stream == nullptr) return;
    if (x[0] > limit) throw std::domain_error("no noise here");
    if (x[0] > 0) stream->uniform();
    values[1] = stream->uniform();
  }
  double limit;
};

/// The draws of a chain as the reader gives them, copied.
struct Copied {
  std::vector<double> values;
  std::vector<std::vector<double>> kept;
  std::vector<double> first;
  QuantityFailures failures;
};

std::vector<Copied> read(double limit, GeneratedOfKept generated) {
  const auto kernel = testing::kernel_at_start(
      testing::Bumpy(2), testing::kernel_settings(KernelKind::nuts, parse_recycling("spread:4")));
  const MomentFeatures moments(std::vector<double>{0, 0});
  kernel->use_features(&moments);
  QuantityReader reader(Noisy(limit), {}, generated);
  reader.set_centre(std::vector<double>{0, 0});
  std::vector<Copied> all;
  for (std::size_t i = 0; i < transitions; ++i) {
    const ReadDraw& draw =
        reader.read(kernel->transition(testing::diagonal_tuning(2, 0.3), address(i)), address(i));
    Copied& copied = all.emplace_back();
    copied.values = testing::copy(draw.values);
    for (const WeightedState& state : draw.kept) {
      copied.kept.push_back(testing::copy(state.state.position));
    }
    copied.first = testing::copy(draw.first);
    copied.failures = draw.failures;
  }
  return all;
}

TEST(QuantityReader, KeptStatesHaveGeneratedQuantitiesOnRequestOnly) {
  const std::vector<Copied> without = read(1e9, GeneratedOfKept::no);
  const std::vector<Copied> with = read(1e9, GeneratedOfKept::yes);
  std::set<double> noises;
  std::size_t states = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i].values, without[i].values);  // the chain's own draws are the same
    noises.insert(with[i].values[1]);
    ASSERT_EQ(with[i].kept.size(), without[i].kept.size());
    for (std::size_t k = 0; k < with[i].kept.size(); ++k) {
      EXPECT_EQ(with[i].kept[k][0], without[i].kept[k][0]);
      EXPECT_TRUE(std::isnan(without[i].kept[k][1]));
      noises.insert(with[i].kept[k][1]);
      ++states;
    }
    EXPECT_TRUE(std::isfinite(with[i].first[1]));
    EXPECT_EQ(with[i].failures.draws + with[i].failures.kept, 0U);
  }
  // All are drawn again, at the same state too.
  EXPECT_EQ(noises.size(), transitions + states);
}

TEST(QuantityReader, TheNoiseOfAStateIsItsOwn) {
  // With another limit some states use no numbers at all; the noise of the others must not change.
  const std::vector<Copied> all = read(1e9, GeneratedOfKept::yes);
  const std::vector<Copied> some = read(0.3, GeneratedOfKept::yes);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t lost_here = 0;
    for (std::size_t k = 0; k < all[i].kept.size(); ++k) {
      const double noise = some[i].kept[k][1];
      if (std::isnan(noise)) {
        ++lost_here;
      } else {
        EXPECT_EQ(noise, all[i].kept[k][1]);
      }
      EXPECT_EQ(some[i].kept[k][0], all[i].kept[k][0]);  // what the state determines stays
    }
    EXPECT_EQ(some[i].failures.kept, lost_here);
    EXPECT_EQ(some[i].failures.draws, std::isnan(some[i].values[1]) ? 1U : 0U);
    lost += lost_here;
  }
  EXPECT_GT(lost, 10U);
}

}  // namespace
}  // namespace rehmc::quantity_reader_test
