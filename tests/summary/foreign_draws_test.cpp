// Draws of other samplers are summarised and sharpened like ours.
#include "rehmc/output/foreign_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/eight_schools.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc::foreign_draws_test {
namespace {

struct Arrays {
  std::vector<std::vector<double>> positions;
  std::vector<std::vector<double>> gradients;
  std::vector<ForeignChain> chains() const {
    std::vector<ForeignChain> all;
    for (std::size_t c = 0; c < positions.size(); ++c) {
      all.push_back({positions[c], gradients[c], {}, {}});
    }
    return all;
  }
};

/// Independent draws of a standard normal in two coordinates, with gradients that are off by a
/// factor.
Arrays normal_draws(std::uint64_t seed, double factor = 1) {
  Arrays arrays;
  for (std::uint32_t c = 0; c < 4; ++c) {
    Stream stream({seed, c, 0}, Purpose::momentum);
    auto& positions = arrays.positions.emplace_back();
    auto& gradients = arrays.gradients.emplace_back();
    for (int i = 0; i < 2 * 500; ++i) {
      positions.push_back(stream.normal());
      gradients.push_back(-factor * positions.back());
    }
  }
  return arrays;
}

TEST(ForeignDraws, AreSharpenedByTheirGradients) {
  const Arrays arrays = normal_draws(7);
  const SampleResult result = from_draws({"a", "b"}, arrays.chains());
  const RunSummary summary = summarise_run(result);
  EXPECT_EQ(summary.sharpening.refused, "");
  for (const ParameterSummary& row : summary.parameters) {
    EXPECT_FALSE(row.recycled);
    ASSERT_TRUE(row.sharpened) << row.not_sharpened;
    // The score of a normal is its coordinate: nothing is left of the error of mean and variance.
    EXPECT_NEAR(row.sharpened->estimate.mean, 0, 1e-6);
    EXPECT_NEAR(row.sharpened->estimate.sd, 1, 1e-3);
    EXPECT_LT(row.sharpened->estimate.mcse_mean, row.plain.mcse_mean / 100);
  }
}

TEST(ForeignDraws, WithWrongGradientsAreRefused) {
  Arrays arrays = normal_draws(7, 1.4);
  const RunSummary summary = summarise_run(from_draws({"a", "b"}, arrays.chains()));
  EXPECT_NE(summary.sharpening.refused, "");
  EXPECT_FALSE(summary.parameters[0].sharpened);
}

TEST(ForeignDraws, CountDivergences) {
  const Arrays arrays = normal_draws(7);
  std::vector<ForeignChain> chains = arrays.chains();
  chains[1].diverging.assign(500, false);
  for (std::size_t i = 0; i < 20; ++i) chains[1].diverging[10 * i] = true;
  const RunSummary summary = summarise_run(from_draws({"a", "b"}, chains));
  EXPECT_EQ(summary.diagnostics.divergences, 20U);
  EXPECT_NE(summary.sharpening.refused.find("20 of 2000 draws diverged"), std::string::npos)
      << summary.sharpening.refused;
}

TEST(ForeignDraws, WithoutGradientsAreOnlySummarised) {
  const Arrays arrays = normal_draws(7);
  std::vector<ForeignChain> chains = arrays.chains();
  for (ForeignChain& chain : chains) chain.gradients = {};
  const RunSummary summary = summarise_run(from_draws({"a", "b"}, chains));
  EXPECT_GT(summary.parameters[0].convergence.ess_bulk, 1000);
  EXPECT_NE(summary.sharpening.refused, "");
}

TEST(ForeignDraws, MustFitTogetherAndBeFinite) {
  const Arrays arrays = normal_draws(7);
  const auto expect_refusal = [&](const std::vector<ForeignChain>& chains, const char* part) {
    try {
      from_draws({"a", "b"}, chains);
      ADD_FAILURE() << "accepted: " << part;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_refusal({}, "no chains");
  std::vector<ForeignChain> chains = arrays.chains();
  chains[2].positions = chains[2].positions.first(501);
  expect_refusal(chains, "chain 3: found 501 numbers of positions, expected 500");
  chains = arrays.chains();
  chains[0].gradients = chains[0].gradients.first(998);
  expect_refusal(chains, "chain 1: found 998 numbers of gradients, expected 1000");
  Arrays broken = arrays;
  broken.gradients[3][5] = std::numeric_limits<double>::quiet_NaN();
  expect_refusal(broken.chains(), "chain 4, draw 3: the gradient of b is nan");
}

/// The eight schools without quantities: users read coordinates.
class Coordinates {
 public:
  std::size_t dimension() const { return model_.dimension(); }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    return model_(x, gradient);
  }

 private:
  EightSchoolsNonCentred model_;
};

TEST(SetQuantities, GivesTheSummaryOfAModelThatComputesThemItself) {
  SampleSettings settings;
  settings.seed = 11;
  settings.draws = 300;
  SampleResult result = sample(Coordinates(), settings);
  const std::vector<double> positions_before(result.chains[0].record.kept_positions().begin(),
                                             result.chains[0].record.kept_positions().end());
  const std::size_t d = result.names.size();
  // The exponential of the first coordinate, and the sum of the first two.
  const auto read = [d](std::span<const double> states) {
    std::vector<double> values;
    for (std::size_t i = 0; i < states.size() / d; ++i) {
      values.push_back(std::exp(states[i * d]));
      values.push_back(states[i * d] + states[i * d + 1]);
    }
    return values;
  };
  std::vector<ChainQuantities> values;
  for (const ChainResult& chain : result.chains) {
    values.push_back({read(chain.record.draws), read(chain.record.kept)});
  }
  set_quantities(result, {{"exp", 0, false}, {"sum", std::nullopt, false}}, values);
  EXPECT_EQ(result.names, (std::vector<std::string>{"exp", "sum"}));
  const std::span<const double> positions = result.chains[0].record.kept_positions();
  EXPECT_TRUE(std::ranges::equal(positions, positions_before));
  const RunSummary summary = summarise_run(result);
  ASSERT_TRUE(summary.parameters[0].recycled);
  ASSERT_TRUE(summary.parameters[1].sharpened) << summary.parameters[1].not_sharpened;
  double mean = 0;
  double count = 0;
  for (const ChainQuantities& chain : values) {
    for (std::size_t k = 1; k < chain.kept.size(); k += 2) mean += chain.kept[k];
    count += static_cast<double>(chain.kept.size()) / 2;
  }
  EXPECT_NEAR(summary.parameters[1].recycled->mean, mean / count, 1e-9);
  values.pop_back();
  EXPECT_THROW(set_quantities(result, {{"exp"}, {"sum"}}, values), DataError);
}

}  // namespace
}  // namespace rehmc::foreign_draws_test
