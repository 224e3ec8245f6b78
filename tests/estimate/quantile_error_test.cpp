// The Monte Carlo standard error of quantiles: its formulas exactly, its size against the truth.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/quantiles.hpp"
#include "rehmc/estimate/recycled.hpp"

namespace rehmc::quantile_error_test {
namespace {

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

// The 16% and 84% points of Beta(51, 51) are 0.45049 and 0.54951, those of Beta(91, 11) 0.86175 and
// 0.92253 (by numerical integration); of 1000 numbers these are the 450th and 550th, and the 861st
// and 923rd.
TEST(QuantileError, IsHalfTheWidthBetweenBetaQuantiles) {
  std::vector<double> squares(1000);
  for (std::size_t i = 0; i < squares.size(); ++i) {
    squares[i] = static_cast<double>((i + 1) * (i + 1));
  }
  EXPECT_DOUBLE_EQ(mcse_quantile_of(squares, 0.5, 100), (550.0 * 550 - 450.0 * 450) / 2);
  EXPECT_DOUBLE_EQ(mcse_quantile_of(squares, 0.9, 100), (923.0 * 923 - 861.0 * 861) / 2);
  // Nothing lies beyond the largest number.
  EXPECT_DOUBLE_EQ(mcse_quantile_of(squares, 1, 1e9), (1000.0 * 1000 - 999.0 * 999) / 2);
}

/// Chains of a stationary autoregression with sd 1.
struct Autoregressions {
  static constexpr std::size_t chains = 4;
  static constexpr std::size_t draws = 1000;
  std::vector<std::vector<double>> values;
  std::vector<Series> series;

  Autoregressions(double correlation, std::uint64_t replicate) {
    const double innovation = std::sqrt(1 - correlation * correlation);
    for (std::uint32_t c = 0; c < chains; ++c) {
      Stream stream({.seed = 31, .chain = c, .iteration = replicate}, Purpose::test);
      auto& chain = values.emplace_back(draws);
      double x = stream.normal();
      for (double& value : chain) {
        value = x;
        x = correlation * x + innovation * stream.normal();
      }
    }
    for (const auto& chain : values) series.push_back({chain.data(), draws, 1});
  }

  /// With every draw as the only state of its trajectory.
  Estimate recycled(std::span<const double> probabilities) const {
    std::vector<std::vector<double>> squares;
    std::vector<Series> second;
    std::vector<std::size_t> begins(draws + 1);
    std::iota(begins.begin(), begins.end(), std::size_t{0});
    std::vector<KeptStates> kept;
    for (const auto& chain : values) {
      auto& of_chain = squares.emplace_back();
      for (const double x : chain) of_chain.push_back(x * x);
      second.push_back({of_chain.data(), draws, 1});
      kept.push_back({{chain.data(), draws, 1}, {}, begins});
    }
    return recycled_estimate({0, series, second, kept, {}}, probabilities);
  }
};

TEST(QuantileError, OfRecycledStatesIsThatOfTheProbabilityTimesTheSlope) {
  const Autoregressions run(0.5, 0);
  std::vector<double> all;
  for (const auto& chain : run.values) all.insert(all.end(), chain.begin(), chain.end());
  const EmpiricalDistribution distribution(all);
  const auto n = static_cast<double>(all.size());
  for (const QuantileEstimate& quantile : run.recycled(standard_probabilities).quantiles) {
    double below = 0;
    for (const double x : all) below += x <= quantile.value ? 1 / n : 0;
    const double of_probability = std::sqrt(below * (1 - below) * n / (n - 1) / quantile.ess);
    const double z = normal_quantile(quantile.probability);
    const double width = 1.2 * std::pow(quantile.ess, -0.2);
    const double slope = (distribution.quantile(normal_cdf(z + width)) -
                          distribution.quantile(normal_cdf(z - width))) /
                         (2 * width * normal_density(z));
    EXPECT_NEAR(quantile.mcse / (of_probability * slope), 1, 1e-10) << quantile.probability;
  }
}

/// The true error of the median of an autoregression: the indicators {x_0 <= 0} and {x_k <= 0} have
/// the correlation 2 / pi asin(c^k) (Sheppard 1899).
double true_error_of_median(double correlation) {
  double time = 1;
  for (int k = 1; k < 1000; ++k) {
    time += 2 * 2 / std::numbers::pi * std::asin(std::pow(correlation, k));
  }
  const double n = Autoregressions::chains * Autoregressions::draws;
  return std::sqrt(0.25 * time / n) / normal_density(0);
}

double true_error_of_independent_draws(double probability) {
  const double n = Autoregressions::chains * Autoregressions::draws;
  return std::sqrt(probability * (1 - probability) / n) /
         normal_density(normal_quantile(probability));
}

/// MCSEs of one quantile over many replicates, plain and recycled, in units of the truth.
struct Ratios {
  static constexpr int replicates = 200;
  struct Sum {
    double first = 0, second = 0, errors = 0;
    void add(double mcse, double error) {
      first += mcse / replicates;
      second += mcse * mcse / replicates;
      errors += error * error / replicates;
    }
    double standard_error() const { return std::sqrt((second - first * first) / replicates); }
  };
  Sum plain, recycled;

  Ratios(double correlation, double probability, double truth) {
    const std::array probabilities{probability};
    for (std::uint64_t r = 0; r < replicates; ++r) {
      const Autoregressions run(correlation, r);
      const double z = normal_quantile(probability);
      const QuantileEstimate one = plain_estimate(run.series, probabilities).quantiles[0];
      const QuantileEstimate other = run.recycled(probabilities).quantiles[0];
      plain.add(one.mcse / truth, (one.value - z) / truth);
      recycled.add(other.mcse / truth, (other.value - z) / truth);
    }
  }
};

// The average ratio may be off by 5 of its standard errors (false alarms: 6e-7 each), and by the
// biases of the definitions: posterior rounds the two order statistics outwards, which adds up to
// two of the 27 or more draws between them, and half that on average; the difference quotient is
// taken over some width. 6% allows for either. The truth itself is checked by the errors that were
// seen: their mean square is within 5 sqrt(2 / 200) of 1.
TEST(QuantileError, IsTheTrueErrorOfTheQuantile) {
  const auto check = [](const Ratios& ratios) {
    for (const Ratios::Sum* sum : {&ratios.plain, &ratios.recycled}) {
      EXPECT_NEAR(sum->first, 1, 0.06 + 5 * sum->standard_error());
      EXPECT_LT(sum->standard_error(), 0.03);
      EXPECT_NEAR(sum->errors, 1, 5 * std::sqrt(2.0 / Ratios::replicates));
    }
  };
  check(Ratios(0, 0.5, true_error_of_independent_draws(0.5)));
  check(Ratios(0, 0.95, true_error_of_independent_draws(0.95)));
  check(Ratios(0, 0.025, true_error_of_independent_draws(0.025)));
  check(Ratios(0.6, 0.5, true_error_of_median(0.6)));
  check(Ratios(-0.4, 0.5, true_error_of_median(-0.4)));
}

}  // namespace
}  // namespace rehmc::quantile_error_test
