// Convergence diagnostics against the R package posterior, and on degenerate draws.
#include "rehmc/estimate/convergence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/quantiles.hpp"
#include "tests/estimate/basic_diagnostics.hpp"

namespace rehmc::convergence_test {
namespace {

using basic::ess_quantile;
using basic::rhat_basic;

struct Case {
  std::vector<std::vector<double>> draws;
  struct Entry {
    std::string quantity;
    std::vector<double> numbers;
  };
  std::vector<Entry> entries;

  std::vector<Series> chains() const {
    std::vector<Series> result;
    for (const auto& chain : draws) result.push_back({chain.data(), chain.size(), 1});
    return result;
  }
};

double parse(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// The cases of data/reference.csv, which data/make_reference.R wrote.
std::map<std::string, Case> reference() {
  std::ifstream file(REHMC_TESTS "/estimate/data/reference.csv");
  std::map<std::string, Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, quantity, field;
    std::getline(fields, name, ',');
    std::getline(fields, quantity, ',');
    std::vector<double> numbers;
    while (std::getline(fields, field, ',')) numbers.push_back(parse(field));
    if (quantity == "draws") {
      cases[name].draws.push_back(std::move(numbers));
    } else {
      cases[name].entries.push_back({quantity, std::move(numbers)});
    }
  }
  return cases;
}

/// Equal to 1e-8, relatively; NaN equals NaN, infinity itself.
void expect_same(double ours, double theirs, const std::string& what) {
  if (what.find("rhat") != std::string::npos && theirs > 1e7) {
    // No variance within the chains: R divides by the rounding error of zero.
    EXPECT_GT(ours, 1e7) << what;
  } else if (std::isnan(theirs)) {
    EXPECT_TRUE(std::isnan(ours)) << what << " is " << ours << ", should be NaN";
  } else if (std::isinf(theirs)) {
    EXPECT_EQ(ours, theirs) << what;
  } else {
    EXPECT_NEAR(ours, theirs, 1e-8 * std::abs(theirs)) << what;
  }
}

TEST(Convergence, EqualsPosterior) {
  using Function = double (*)(Chains);
  const std::map<std::string, Function> functions{
      {"rhat", rhat},
      {"ess_bulk", ess_bulk},
      {"ess_tail", ess_tail},
      {"ess_mean", ess_mean},
      {"ess_sd", ess_sd},
      {"ess_median", [](Chains chains) { return ess_quantile(chains, 0.5); }},
      {"mcse_mean", mcse_mean},
      {"mcse_sd", mcse_sd},
      {"mcse_median", [](Chains chains) { return mcse_quantile(chains, 0.5); }},
      {"rhat_basic", [](Chains chains) { return rhat_basic(chains); }},
      {"ess_basic", [](Chains chains) { return ess_basic(chains); }},
      {"rhat_basic_unsplit", [](Chains chains) { return rhat_basic(chains, false); }},
      {"ess_basic_unsplit", [](Chains chains) { return ess_basic(chains, false); }},
  };
  const auto cases = reference();
  ASSERT_GE(cases.size(), 40u);
  std::size_t compared = 0;
  for (const auto& [name, one] : cases) {
    const auto chains = one.chains();
    for (const auto& [quantity, numbers] : one.entries) {
      const std::string what = name + " " + quantity;
      if (quantity == "ess_quantile") {
        expect_same(ess_quantile(chains, numbers[0]), numbers[1],
                    what + " " + std::to_string(numbers[0]));
      } else if (quantity == "mcse_quantile") {
        expect_same(mcse_quantile(chains, numbers[0]), numbers[1],
                    what + " " + std::to_string(numbers[0]));
      } else if (quantity == "quantile") {
        std::vector<double> all;
        for (const auto& chain : one.draws) all.insert(all.end(), chain.begin(), chain.end());
        expect_same(EmpiricalDistribution(all).quantile(numbers[0]), numbers[1],
                    what + " " + std::to_string(numbers[0]));
      } else {
        expect_same(functions.at(quantity)(chains), numbers[0], what);
      }
      ++compared;
    }
    const Convergence all = convergence(chains);
    for (const auto& [quantity, numbers] : one.entries) {
      if (quantity == "rhat") expect_same(all.rhat, numbers[0], name + " convergence().rhat");
      if (quantity == "ess_bulk")
        expect_same(all.ess_bulk, numbers[0], name + " convergence().ess_bulk");
      if (quantity == "ess_tail")
        expect_same(all.ess_tail, numbers[0], name + " convergence().ess_tail");
    }
  }
  EXPECT_GE(compared, 1600u);
}

TEST(Convergence, ReadsAStridedMatrixInPlace) {
  const auto cases = reference();
  const auto& one = cases.at("autoregression_0.5");
  const std::size_t chains = one.draws.size(), iterations = one.draws[0].size(), parameters = 3;
  std::vector<double> matrix(chains * iterations * parameters, 99.0);
  std::vector<Series> views;
  for (std::size_t c = 0; c < chains; ++c) {
    for (std::size_t i = 0; i < iterations; ++i) {
      matrix[(c * iterations + i) * parameters + 1] = one.draws[c][i];
    }
    views.push_back({matrix.data() + c * iterations * parameters + 1, iterations, parameters});
  }
  EXPECT_EQ(rhat(views), rhat(one.chains()));
  EXPECT_EQ(ess_bulk(views), ess_bulk(one.chains()));
  EXPECT_EQ(mcse_quantile(views, 0.95), mcse_quantile(one.chains(), 0.95));
}

/// Chains slow enough to need the Fourier transform, against the textbook sum over all pairs of
/// draws.
TEST(Convergence, LongChainsAgreeWithADirectSum) {
  Stream stream({.seed = 11}, Purpose::test);
  const std::size_t n = 3001;
  std::vector<std::vector<double>> draws(3, std::vector<double>(n));
  for (auto& chain : draws) {
    double x = stream.normal();
    for (double& value : chain) value = x = 0.99 * x + std::sqrt(1 - 0.99 * 0.99) * stream.normal();
  }
  std::vector<Series> chains;
  for (const auto& chain : draws) chains.push_back({chain.data(), n, 1});

  std::vector<double> means(3), autocovariance(n, 0.0);
  for (std::size_t c = 0; c < 3; ++c) {
    for (const double x : draws[c]) means[c] += x / n;
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t i = 0; i + t < n; ++i) {
        autocovariance[t] += (draws[c][i] - means[c]) * (draws[c][i + t] - means[c]) / n / 3;
      }
    }
  }
  const double grand = (means[0] + means[1] + means[2]) / 3;
  double total = autocovariance[0];
  for (const double mean : means) total += (mean - grand) * (mean - grand) / 2;
  const double within = autocovariance[0] * n / (n - 1.0);
  const auto rho = [&](std::size_t t) {
    return t == 0 ? 1 : 1 - (within - autocovariance[t]) / total;
  };
  double pair = rho(0) + rho(1), time = -1;
  std::size_t t = 0;
  for (double next = pair; next > 0; next = rho(t) + rho(t + 1)) {
    pair = std::min(pair, next);
    time += 2 * pair;
    t += 2;
  }
  time += std::max(0.0, rho(t));
  ASSERT_GT(t, 100u) << "the chains are too fast to need the transform";
  EXPECT_NEAR(ess_basic(chains, false), 3 * n / time, 1e-8 * 3 * n / time);
}

TEST(Convergence, DistinguishesConstantFromStuck) {
  const auto cases = reference();
  const auto check = [&](const char* name) { return check_draws(cases.at(name).chains()); };
  EXPECT_EQ(check("independent").condition, DrawsCondition::ordinary);
  EXPECT_EQ(check("autoregression_0.95").condition, DrawsCondition::ordinary);
  EXPECT_EQ(check("constant").condition, DrawsCondition::constant);
  EXPECT_TRUE(check("constant").chains.empty());
  EXPECT_EQ(check("stuck_chain").condition, DrawsCondition::stuck);
  EXPECT_EQ(check("stuck_chain").chains, (std::vector<std::size_t>{1}));
  EXPECT_EQ(check("chains_constant_apart").condition, DrawsCondition::stuck);
  EXPECT_EQ(check("chains_constant_apart").chains, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(check("with_NaN").condition, DrawsCondition::not_finite);
  EXPECT_EQ(check("with_NaN").chains, (std::vector<std::size_t>{2}));
  EXPECT_EQ(check("with_-Inf").condition, DrawsCondition::not_finite);
  EXPECT_EQ(check("one_draw").condition, DrawsCondition::too_short);
  EXPECT_EQ(check("short_3").condition, DrawsCondition::too_short);
  EXPECT_EQ(check("short_4").condition, DrawsCondition::ordinary);
  EXPECT_EQ(check_draws({}).condition, DrawsCondition::too_short);
}

TEST(Convergence, ChainsThatNeverMoveHaveNoVarianceWithin) {
  // 1999 times 0.1 does not sum to 199.9, but the variance must be 0, not the square of a rounding
  // error.
  const std::size_t n = 1999;
  const std::vector<double> low(n, 0.1), high(n, 1.1);
  const std::vector<Series> chains{{low.data(), n, 1}, {high.data(), n, 1}};
  EXPECT_EQ(squares_about(low, mean_of(low)), 0);
  EXPECT_EQ(rhat_basic(chains), std::numeric_limits<double>::infinity());
  EXPECT_LT(ess_bulk(chains), 4);
}

/// A run of independent autoregressions, one for every parameter.
struct Autoregressions {
  std::size_t chains = 4;
  std::size_t draws = 100;
  std::size_t parameters = 25;
  double correlation = 0;
  double apart = 0;  ///< how far the first chain of the first parameter is off

  /// The R-hat of every parameter, less its limit; the largest.
  double worst_excess(std::uint64_t replicate) const {
    Stream stream({.seed = 300 + replicate}, Purpose::test);
    double worst = -1;
    for (std::size_t p = 0; p < parameters; ++p) {
      std::vector<std::vector<double>> values(chains);
      std::vector<Series> series;
      for (std::size_t c = 0; c < chains; ++c) {
        double x = stream.normal();
        for (std::size_t i = 0; i < draws; ++i) {
          values[c].push_back(x + (p == 0 && c == 0 ? apart : 0));
          x = correlation * x + std::sqrt(1 - correlation * correlation) * stream.normal();
        }
        series.push_back({values[c].data(), draws, 1});
      }
      const Convergence found = convergence(series);
      worst = std::max(worst, found.rhat - most_healthy_rhat(chains, draws, found, parameters));
    }
    return worst;
  }
  /// In how many runs some parameter exceeds its limit.
  int refused(std::uint64_t runs, std::uint64_t first = 0) const {
    int count = 0;
    for (std::uint64_t r = first; r < runs; ++r) count += worst_excess(r) > 0 ? 1 : 0;
    return count;
  }
  /// Of 300 runs. At most one among the first 100 is enough: where 3.9% or 6% are refused, so that
  /// more than 11 of all are with the probability 0.5 or 0.95, that happens with 0.09 or 0.02.
  int refused_of_300() const {
    const int early = refused(100);
    return early <= 1 ? early : early + refused(300, 100);
  }
};

// Short chains, most of whose healthy runs have an R-hat above 1.01. At the rate of 1%, more than
// 11 of 300 runs have a chance of 1e-4.
TEST(Convergence, TheLimitOfRhatKnowsTheLengthOfTheRun) {
  for (const double correlation : {-0.3, 0.0, 0.5}) {
    EXPECT_LE(Autoregressions{.correlation = correlation}.refused_of_300(), 11) << correlation;
  }
  EXPECT_LE((Autoregressions{.draws = 300, .correlation = 0.5}.refused_of_300()), 11);
  EXPECT_LE((Autoregressions{.chains = 2, .draws = 200}.refused_of_300()), 11);
  EXPECT_LE((Autoregressions{.chains = 8, .correlation = 0.3}.refused_of_300()), 11);
  EXPECT_LE((Autoregressions{.parameters = 1, .correlation = 0.5}.refused(1000)), 24);
}

// A chain that is off by 1 or 0.5 sds, in one parameter of 25. That is 5 and 3 times the largest
// that a healthy chain's mean is off by; all runs but a few in a thousand show it.
TEST(Convergence, TheLimitOfRhatStillFindsAChainThatIsOff) {
  EXPECT_GE((Autoregressions{.apart = 1}.refused(100)), 98);
  EXPECT_GE((Autoregressions{.draws = 1000, .apart = 0.5}.refused(50)), 49);
}

TEST(Convergence, TheLimitOfRhatIsAtLeastTheUsualOne) {
  const auto limit = [](std::size_t chains, std::size_t draws, double ess, std::size_t parameters) {
    Convergence convergence;
    convergence.ess_within = ess;
    return most_healthy_rhat(chains, draws, convergence, parameters);
  };
  EXPECT_EQ(limit(4, 1000, 4000, 1), least_limit_of_rhat);
  EXPECT_GT(limit(4, 100, 400, 25), 1.02);
  EXPECT_GT(limit(4, 100, 400, 300), limit(4, 100, 400, 25));
  EXPECT_GT(limit(4, 100, 200, 25), limit(4, 100, 400, 25));
  // What is not known excuses nothing.
  EXPECT_EQ(limit(4, 100, std::nan(""), 25), least_limit_of_rhat);
  EXPECT_EQ(limit(4, 100, 39, 25), least_limit_of_rhat);
  EXPECT_EQ(limit(0, 0, 400, 25), least_limit_of_rhat);
}

// Chains that disagree have a small ESS, but their ESS within chains does not see it: or the limit
// would rise with R-hat.
TEST(Convergence, TheEssWithinChainsIsThatOfChainsThatAgree) {
  const std::size_t n = 1000;
  std::vector<std::vector<double>> values(4, std::vector<double>(n));
  std::vector<Series> together;
  std::vector<Series> apart;
  Stream stream({.seed = 1}, Purpose::test);
  for (auto& chain : values) {
    stream.fill_normal(chain);
    together.push_back({chain.data(), n, 1});
  }
  auto moved = values;
  for (double& x : moved[2]) x += 10;
  for (const auto& chain : moved) apart.push_back({chain.data(), n, 1});
  EXPECT_GT(convergence(together).ess_within, 2500);
  EXPECT_GT(convergence(apart).ess_within, 1000);
  EXPECT_LT(convergence(apart).ess_bulk, 20);
}

TEST(Convergence, NoDrawsGiveNaN) {
  EXPECT_TRUE(std::isnan(rhat({})));
  EXPECT_TRUE(std::isnan(ess_bulk({})));
  EXPECT_TRUE(std::isnan(ess_tail({})));
  EXPECT_TRUE(std::isnan(mcse_mean({})));
  EXPECT_TRUE(std::isnan(mcse_sd({})));
  EXPECT_TRUE(std::isnan(mcse_quantile({}, 0.5)));
  const std::vector<Series> empty(4);
  EXPECT_TRUE(std::isnan(rhat(empty)));
  EXPECT_TRUE(std::isnan(ess_sd(empty)));
}

TEST(Convergence, RejectsInvalidInput) {
  const std::vector<double> draws(10, 0.0);
  const std::vector<Series> uneven{{draws.data(), 10, 1}, {draws.data(), 9, 1}};
  try {
    rhat(uneven);
    FAIL() << "chains of different length were accepted";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "chain 1 has 9 draws but chain 0 has 10: cut all chains to the same length");
  }
  const std::vector<Series> even{{draws.data(), 10, 1}};
  EXPECT_THROW(mcse_quantile(even, 1.5), ConfigError);
  EXPECT_THROW(mcse_quantile(even, std::numeric_limits<double>::quiet_NaN()), ConfigError);
}

TEST(EnergyBfmi, OfIndependentAndOfSlowEnergies) {
  // For an autoregression with coefficient phi the ratio tends to 2 (1 - phi). Its standard error
  // over n draws is below 2 / sqrt(n) for independent draws; five of them are allowed (false
  // alarms: 1e-6).
  Stream stream({.seed = 5}, Purpose::test);
  const std::size_t n = 40000;
  for (const double phi : {0.0, 0.9}) {
    std::vector<double> energies(n);
    double x = stream.normal();
    for (double& energy : energies)
      energy = 100 + (x = phi * x + std::sqrt(1 - phi * phi) * stream.normal());
    EXPECT_NEAR(energy_bfmi(energies), 2 * (1 - phi), 5 * 2 / std::sqrt(double(n)));
  }
  const std::vector<double> exact{1, 2, 4};
  EXPECT_NEAR(energy_bfmi(exact), 5 / (16.0 / 9 + 1.0 / 9 + 25.0 / 9), 1e-14);
}

TEST(EnergyBfmi, DegenerateEnergiesGiveNaN) {
  for (const std::vector<double>& energies : std::vector<std::vector<double>>{
           {}, {1}, {1, 2}, {3, 3, 3, 3}, {1, 2, infinity}, {1, std::nan(""), 2}}) {
    EXPECT_TRUE(std::isnan(energy_bfmi(energies)));
  }
}

}  // namespace
}  // namespace rehmc::convergence_test
