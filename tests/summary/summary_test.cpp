// Summaries of whole runs: against direct sums over the stored states, and against the truth.
#include "rehmc/summary/summary.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "models/correlated_normal.hpp"
#include "models/eight_schools.hpp"
#include "models/standard_normal.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "tests/kernel/mechanics.hpp"

namespace rehmc::summary_test {
namespace {

using testing::every_kernel;
using testing::Numbers;

SampleSettings run_of(KernelKind kind, const char* recycling) {
  SampleSettings settings;
  settings.kernel.kind = kind;
  settings.kernel.recycling = parse_recycling(recycling);
  settings.seed = 51;
  return settings;
}

TEST(Summary, HasNothingRecycledIfNothingWas) {
  for (const KernelKind kind : every_kernel) {
    for (const char* recycling : {"none", "all", "spread:2", "simple:2"}) {
      SampleSettings settings = run_of(kind, recycling);
      settings.draws = settings.warmup.iterations = 50;
      const SampleResult result = sample(testing::Bumpy(2), settings);
      const auto summary = summarise(result);
      ASSERT_EQ(summary.size(), 2U);
      EXPECT_EQ(summary[0].name, "x[1]");
      EXPECT_EQ(summary[1].name, "x[2]");
      for (const ParameterSummary& row : summary) {
        EXPECT_EQ(row.recycled.has_value(), recycling != std::string("none"));
      }
    }
  }
}

/// Mean and sd of a parameter over all kept states of all chains, in two passes.
struct DirectMoments {
  double mean = 0;
  double sd = 0;
};

DirectMoments direct_moments(const SampleResult& result, std::size_t parameter) {
  const auto average = [&](auto&& f) {
    double sum = 0;
    double mass = 0;
    for (const ChainResult& chain : result.chains) {
      const ChainRecord& record = chain.record;
      for (std::size_t i = 0; i < record.size(); ++i) {
        mass += record.mass[i];
        for (std::size_t k = record.kept_begin(i); k < record.kept_begin(i + 1); ++k) {
          sum += record.mass[i] * record.kept_weight[k] *
                 f(record.kept[k * record.dimension() + parameter]);
        }
      }
    }
    return sum / mass;
  };
  DirectMoments moments;
  moments.mean = average([](double x) { return x; });
  const double draws =
      static_cast<double>(result.chains.size() * result.chains.front().record.size());
  const double variance = average([&](double x) { return std::pow(x - moments.mean, 2); });
  moments.sd = std::sqrt(variance * draws / (draws - 1));
  return moments;
}

// With recycling `all` every state is stored, so the moments that were summed during sampling,
// about another centre in every chain, can also be computed from the states.
TEST(Summary, MomentsAreThoseOfAllStates) {
  const FunctionDensity shifted(3, [](std::span<const double> x, std::span<double> gradient) {
    const Numbers moved{x[0] - 1000, x[1] + 3, x[2]};
    return testing::Bumpy(3)(moved, gradient);
  });
  for (const KernelKind kind : every_kernel) {
    for (const bool by_steps : {false, true}) {
      SCOPED_TRACE(describe(kind));
      SampleSettings settings = run_of(kind, "all");
      settings.kernel.hmc.weight_by_draws = !by_steps;
      settings.kernel.hmc.jitter_least = 0.3;
      settings.draws = 200;
      settings.warmup.iterations = 150;
      settings.start = {{1000, -3, 0}};
      const SampleResult result = sample(shifted, settings);
      EXPECT_NE(result.chains[0].record.centre, result.chains[1].record.centre);
      const auto summary = summarise(result);
      for (std::size_t p = 0; p < 3; ++p) {
        const DirectMoments direct = direct_moments(result, p);
        ASSERT_TRUE(summary[p].recycled.has_value());
        EXPECT_NEAR(summary[p].recycled->mean, direct.mean, 1e-11 * (1 + std::abs(direct.mean)));
        EXPECT_NEAR(summary[p].recycled->sd, direct.sd, 1e-9 * direct.sd);
      }
    }
  }
}

TEST(Summary, PlainEstimatesAreThoseOfTheDraws) {
  SampleSettings settings = run_of(KernelKind::nuts, "spread:2");
  settings.draws = 100;
  settings.warmup.iterations = 150;
  const SampleResult result = sample(testing::Bumpy(2), settings);
  const auto summary = summarise(result);
  for (std::size_t p = 0; p < 2; ++p) {
    double sum = 0;
    for (const ChainResult& chain : result.chains) {
      for (std::size_t i = 0; i < 100; ++i) sum += chain.record.draw(i)[p];
    }
    EXPECT_NEAR(summary[p].plain.mean, sum / 400, 1e-12);
    EXPECT_LT(summary[p].convergence.rhat, 1.5);
  }
}

/// The z-scores of estimates that should be the truth, with a common limit.
class Scores {
 public:
  void look_at(double estimate, double mcse, double truth) {
    ASSERT_TRUE(std::isfinite(mcse) && mcse > 0);
    worst_ = std::max(worst_, std::abs(estimate - truth) / mcse);
    ++count_;
  }
  /// A false alarm somewhere has this probability, if every score is normal.
  void expect_all_within(double rate) const {
    EXPECT_LT(worst_, -normal_quantile(rate / (2 * count_))) << count_ << " scores";
  }

 private:
  double worst_ = 0;
  double count_ = 0;
};

// Means and sds of all coordinates, plain and recycled. False alarms: 1e-4 per kernel; error bars
// estimated from 4000 draws have some 3% of error themselves, which the limit near 5 allows for.
TEST(EndToEnd, CorrelatedNormal) {
  constexpr std::size_t dimension = 6;
  const Numbers covariance = wishart_draw({.dimension = dimension, .degrees_of_freedom = 8});
  const CorrelatedNormal target(covariance);
  for (const KernelKind kind : every_kernel) {
    SCOPED_TRACE(describe(kind));
    const SampleResult result = sample(target, run_of(kind, "spread:8"));
    const auto summary = summarise(result);
    Scores scores;
    for (std::size_t p = 0; p < dimension; ++p) {
      const double sd = std::sqrt(target.variance(p));
      for (const Estimate& estimate : {summary[p].plain, *summary[p].recycled}) {
        scores.look_at(estimate.mean, estimate.mcse_mean, 0);
        scores.look_at(estimate.sd, estimate.mcse_sd, sd);
      }
      EXPECT_LT(summary[p].convergence.rhat, 1.02);
      EXPECT_LT(summary[p].recycled->mcse_mean, 1.2 * summary[p].plain.mcse_mean);
    }
    scores.expect_all_within(1e-4);
  }
}

/// Standard normals, reported as they are and with added noise.
struct NoisyNormal : StandardNormal {
  NoisyNormal() : StandardNormal(2) {}
  std::vector<Quantity> quantities() const { return {{"x", 0}, {"noisy", {}, true}}; }
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* stream) const {
    values[0] = x[0];
    values[1] = stream == nullptr ? std::nan("") : 1000 + x[0] + stream->normal();
  }
};

// False alarms: 1e-4.
TEST(EndToEnd, GeneratedQuantitiesOfKeptStates) {
  SampleSettings settings = run_of(KernelKind::nuts, "spread:8");
  const std::vector<ParameterSummary> without = summarise(sample(NoisyNormal{}, settings));
  EXPECT_TRUE(without[0].recycled.has_value());
  EXPECT_FALSE(without[1].recycled.has_value());
  settings.recycle_generated = true;
  const std::vector<ParameterSummary> with = summarise(sample(NoisyNormal{}, settings));
  EXPECT_EQ(with[1].plain.mean, without[1].plain.mean);  // the chain's own draws do not change
  ASSERT_TRUE(with[1].recycled.has_value());
  Scores scores;
  scores.look_at(with[1].recycled->mean, with[1].recycled->mcse_mean, 1000);
  scores.look_at(with[1].recycled->sd, with[1].recycled->mcse_sd, std::sqrt(2));
  scores.expect_all_within(1e-4);
  // The noise of eight states averages out: what is left of it is an eighth.
  EXPECT_LT(with[1].recycled->mcse_mean, with[1].plain.mcse_mean);

  settings.kernel.recycling = parse_recycling("none");
  EXPECT_THROW(sample(NoisyNormal{}, settings), ConfigError);
}

/// Posterior means of the eight schools, non-centred, by quadrature over log tau: given tau
/// everything else is normal (Bayesian Data Analysis, section 5.4, with mu ~ N(0, 5) and a
/// half-Cauchy(0, 5) tau).
Numbers eight_schools_means() {
  constexpr std::size_t schools = EightSchoolsData::schools;
  Numbers sums(2 + schools, 0.0);
  double total = 0;
  for (double log_tau = -20; log_tau < 12; log_tau += 1e-3) {
    const double tau = std::exp(log_tau);
    double precision = 1.0 / 25;
    double weighted = 0;
    double log_weight = log_tau - std::log1p(tau * tau / 25);  // prior and Jacobian
    for (std::size_t j = 0; j < schools; ++j) {
      const double y = EightSchoolsData::effects[j];
      const double variance = std::pow(EightSchoolsData::standard_errors[j], 2) + tau * tau;
      precision += 1 / variance;
      weighted += y / variance;
      log_weight -= 0.5 * std::log(variance) + 0.5 * y * y / variance;
    }
    const double mean = weighted / precision;
    log_weight += 0.5 * weighted * mean - 0.5 * std::log(precision);
    const double weight = std::exp(log_weight + 30);
    total += weight;
    sums[0] += weight * mean;
    sums[1] += weight * log_tau;
    for (std::size_t j = 0; j < schools; ++j) {
      const double variance = std::pow(EightSchoolsData::standard_errors[j], 2) + tau * tau;
      sums[2 + j] += weight * tau * (EightSchoolsData::effects[j] - mean) / variance;
    }
  }
  for (double& sum : sums) sum /= total;
  return sums;
}

// False alarms 1e-4, as above.
TEST(EndToEnd, EightSchools) {
  const Numbers truth = eight_schools_means();
  EXPECT_NEAR(truth[0], 4.4, 0.2);  // mu, as published for these priors
  for (const KernelKind kind : {KernelKind::nuts, KernelKind::nuts_slice}) {
    SCOPED_TRACE(describe(kind));
    SampleSettings settings = run_of(kind, "spread:8");
    settings.warmup.adapt_step_size.target_acceptance = 0.9;
    EightSchoolsNonCentred model;
    const auto by_coordinates = [&](std::span<const double> x, std::span<double> gradient) {
      return model(x, gradient);
    };
    const auto summary =
        summarise(sample(FunctionDensity(model.dimension(), by_coordinates), settings));
    Scores scores;
    for (std::size_t p = 0; p < truth.size(); ++p) {
      scores.look_at(summary[p].plain.mean, summary[p].plain.mcse_mean, truth[p]);
      scores.look_at(summary[p].recycled->mean, summary[p].recycled->mcse_mean, truth[p]);
    }
    scores.expect_all_within(1e-4);
  }
}

}  // namespace
}  // namespace rehmc::summary_test
