// Variances over seeds of plain, recycled and sharpened estimates, on the built-in models.
#include "gains_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "in_parallel.hpp"
#include "models/banana.hpp"
#include "models/coordinates.hpp"
#include "models/correlated_normal.hpp"
#include "models/funnel.hpp"
#include "models/log_exponential.hpp"
#include "models/registry.hpp"
#include "models/student_t.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "run_outcome.hpp"

namespace rehmc::bench {
namespace {

/// The exact values of a target: no errors.
template <class Model>
RunOutcome exact(const Model& model) {
  RunOutcome truth;
  for (std::size_t i = 0; i < model.dimension(); ++i) {
    auto& values = truth.parameters.emplace_back().sharpened;
    const double sd = std::sqrt(model.variance(i));
    values[0].value = model.mean(i);
    values[1].value = sd;
    for (std::size_t q = 0; q < standard_probabilities.size(); ++q) {
      values[2 + q].value = exact_quantile(model, i, standard_probabilities[q]);
    }
  }
  return truth;
}

struct Target {
  std::string label;
  Density density;
  int runs = 400;
  std::optional<RunOutcome> truth{};
  int reference_draws = 20'000;
};

template <class Model>
Target known(std::string label, const Model& model) {
  return {std::move(label), model, 400, exact(model)};
}

Target built_in(std::string label, const std::string& name, int runs = 400) {
  return {std::move(label),
          Coordinates{make_model(name, "", "").density},
          runs,
          {},
          runs < 400 ? 8000 : 20000};
}
/// As users read it, including functions of several coordinates.
Target as_read(std::string label, const std::string& name, int runs = 400) {
  return {std::move(label), make_model(name, "", "").density, runs};
}

/// One summary over all parameters of a target.
struct Row {
  double recycled_gain = 1;   ///< variance of the plain chain's estimate over the recycled one's
  double sharpened_gain = 1;  ///< and over the sharpened one's; geometric means over parameters
  double honesty = 0;         ///< mean over parameters of the mean of (error / MCSE)^2
  double plain_honesty = 0;   ///< the same of the plain chain's estimates
  double least_honesty = std::numeric_limits<double>::infinity();
  double most_honesty = 0;
  double worst_bias = 0;   ///< largest |mean error| in its standard errors
  double common_bias = 0;  ///< mean over parameters of (mean error / its sd in a single run)
  /// Of what the summaries of all runs show, which is the recycled estimate if sharpening is
  /// refused: this depends on the draws, so that the sharpened runs alone are a biased selection.
  double shown_honesty = 0;
  double shown_bias = 0;
  /// Recycled over sharpened variance: the least over parameters, and the least upper bound of it
  /// that holds for all parameters with probability 99.9%.
  double least_ratio = std::numeric_limits<double>::infinity();
  double least_upper_ratio = std::numeric_limits<double>::infinity();
  double warned = 0;  ///< share of runs and parameters that warn of tails without finite errors
};

/// The estimates of one summary of one parameter by all runs that were sharpened. Others show the
/// recycled estimate; `shown` has those of all runs.
struct Estimates {
  std::vector<double> plain;
  std::vector<double> recycled;
  std::vector<double> sharpened;
  double mean_square = 0;  ///< of error / MCSE
  double plain_mean_square = 0;
  std::vector<double> shown;
  double shown_mean_square = 0;
  double warned = 0;
};

Estimates estimates_of(const std::vector<RunOutcome>& runs, const Value& truth, std::size_t p,
                       std::size_t s) {
  Estimates all;
  for (const RunOutcome& run : runs) {
    const Outcome& one = run.parameters[p];
    const auto square = [&](const Value& value) {
      const double error = value.value - truth.value;
      return error * error / (value.mcse * value.mcse + truth.mcse * truth.mcse);
    };
    all.shown.push_back(one.sharpened[s].value);
    all.shown_mean_square += square(one.sharpened[s]) / static_cast<double>(runs.size());
    if (!one.sharp) continue;
    all.plain.push_back(one.plain[s].value);
    all.recycled.push_back(one.recycled[s].value);
    all.sharpened.push_back(one.sharpened[s].value);
    all.mean_square += square(one.sharpened[s]);
    all.plain_mean_square += square(one.plain[s]);
    const bool warned = s == 0 ? !one.mean_tail_seen : s == 1 && !one.sd_tail_seen;
    all.warned += warned ? 1.0 : 0.0;
  }
  const auto count = static_cast<double>(all.plain.size());
  all.mean_square /= count;
  all.plain_mean_square /= count;
  all.warned /= count;
  return all;
}

/// Factor on a ratio of variances of paired estimates (Morgan 1939; Pitman 1939) that all of this
/// many ratios stay below with probability 99.9%.
double upper_factor(const Estimates& estimates, std::size_t comparisons) {
  const double a_mean = mean_of(estimates.recycled);
  const double b_mean = mean_of(estimates.sharpened);
  double product = 0;
  for (std::size_t r = 0; r < estimates.recycled.size(); ++r) {
    product += (estimates.recycled[r] - a_mean) * (estimates.sharpened[r] - b_mean);
  }
  const auto n = static_cast<double>(estimates.recycled.size());
  const double correlation =
      product / (n - 1) /
      std::sqrt(variance_of(estimates.recycled) * variance_of(estimates.sharpened));
  const double score = -normal_quantile(1e-3 / static_cast<double>(comparisons));
  return std::exp(score * 2 * std::sqrt(std::max(0.0, 1 - correlation * correlation) / n));
}

/// |mean error| in its standard errors.
double bias_of(const std::vector<double>& estimates, const Value& truth) {
  const double error = std::hypot(
      std::sqrt(variance_of(estimates) / static_cast<double>(estimates.size())), truth.mcse);
  return std::abs(mean_of(estimates) - truth.value) / error;
}

Row row_of(const std::vector<RunOutcome>& runs, const RunOutcome& reference, std::size_t s) {
  const std::size_t parameters = reference.parameters.size();
  const auto share = 1 / static_cast<double>(parameters);
  Row row;
  double log_recycled = 0;
  double log_sharpened = 0;
  for (std::size_t p = 0; p < parameters; ++p) {
    const Value truth = reference.parameters[p].sharpened[s];
    const Estimates estimates = estimates_of(runs, truth, p, s);
    const double plain = variance_of(estimates.plain);
    const double recycled = variance_of(estimates.recycled);
    const double sharpened = variance_of(estimates.sharpened);
    log_recycled += share * std::log(plain / recycled);
    log_sharpened += share * std::log(plain / sharpened);
    row.honesty += share * estimates.mean_square;
    row.plain_honesty += share * estimates.plain_mean_square;
    row.least_honesty = std::min(row.least_honesty, estimates.mean_square);
    row.most_honesty = std::max(row.most_honesty, estimates.mean_square);
    row.warned += share * estimates.warned;
    const double ratio = recycled / sharpened;
    row.least_ratio = std::min(row.least_ratio, ratio);
    row.least_upper_ratio =
        std::min(row.least_upper_ratio, ratio * upper_factor(estimates, parameters * summaries));
    row.worst_bias = std::max(row.worst_bias, bias_of(estimates.sharpened, truth));
    row.common_bias += share * (mean_of(estimates.sharpened) - truth.value) / std::sqrt(sharpened);
    row.shown_honesty += share * estimates.shown_mean_square;
    row.shown_bias = std::max(row.shown_bias, bias_of(estimates.shown, truth));
  }
  row.recycled_gain = std::exp(log_recycled);
  row.sharpened_gain = std::exp(log_sharpened);
  return row;
}

std::vector<RunOutcome> run_all(const Density& density, int count, int threads) {
  std::vector<RunOutcome> runs(static_cast<std::size_t>(count));
  in_parallel(count, threads, [&](int r) {
    constexpr int draws = 1000;
    runs[static_cast<std::size_t>(r)] =
        outcome_of(sample_once(density, 1000 + static_cast<std::uint64_t>(r), draws));
  });
  return runs;
}

using Json = nlohmann::ordered_json;

Json report(const Target& target, const std::vector<RunOutcome>& runs,
            const RunOutcome& reference) {
  const auto all = static_cast<double>(runs.size() * reference.parameters.size());
  double refused = 0;
  int failed = 0;
  for (const RunOutcome& run : runs) {
    failed += run.passed ? 0 : 1;
    for (const Outcome& one : run.parameters) refused += one.sharp ? 0 : 1 / all;
  }
  Json json;
  json["target"] = target.label;
  json["parameters"] = reference.parameters.size();
  json["runs"] = runs.size();
  json["exact_truth"] = target.truth.has_value();
  json["not_sharpened"] = refused;
  json["stein_check_failed"] = failed;
  fmt::print("{} ({} parameters, {} runs; not sharpened {:.1f}%, Stein check failed {} times)\n",
             target.label, reference.parameters.size(), runs.size(), 100 * refused, failed);
  json["summaries"] = Json::array();
  constexpr double enough = 0.5;
  for (std::size_t s = 0; s < summaries && 1 - refused > enough; ++s) {
    const Row row = row_of(runs, reference, s);
    std::map<std::string, double> sets;
    for (const RunOutcome& run : runs) {
      for (const Outcome& one : run.parameters) sets[std::string(describe(one.sets[s]))] += 1 / all;
    }
    json["summaries"].push_back({{"summary", summary_name(s)},
                                 {"recycled_gain", row.recycled_gain},
                                 {"sharpened_gain", row.sharpened_gain},
                                 {"mean_square", row.honesty},
                                 {"least_mean_square", row.least_honesty},
                                 {"most_mean_square", row.most_honesty},
                                 {"plain_mean_square", row.plain_honesty},
                                 {"worst_bias", row.worst_bias},
                                 {"common_bias", row.common_bias},
                                 {"shown_mean_square", row.shown_honesty},
                                 {"shown_bias", row.shown_bias},
                                 {"least_ratio", row.least_ratio},
                                 {"least_upper_ratio", row.least_upper_ratio},
                                 {"warned", row.warned},
                                 {"sets", sets}});
    fmt::print(
        "  {:6} recycled {:6.2f}  sharpened {:10.4g}  (error/MCSE)^2 {:5.2f} [{:.2f}, {:.2f}]  "
        "bias {:.1f}, {:+.3f} sd  all runs {:.2f}, bias {:.1f}  over recycled {:.2f} (at most "
        "{:.2f})  warned {:.0f}%  plain {:.2f}\n",
        summary_name(s), row.recycled_gain, row.sharpened_gain, row.honesty, row.least_honesty,
        row.most_honesty, row.worst_bias, row.common_bias, row.shown_honesty, row.shown_bias,
        row.least_ratio, row.least_upper_ratio, 100 * row.warned, row.plain_honesty);
  }
  std::fflush(stdout);
  return json;
}

}  // namespace

void write_gains_table(const GainsOptions& options) {
  std::vector<std::function<Target()>> targets{
      [] {
        return known("correlated normal", CorrelatedNormal(wishart_draw({25, 50, 1})));
      },
      [] { return known("skewed", LogExponential(20)); },
      [] { return known("student t(5)", StudentT(10, 5)); },
      [] { return known("student t(2.5)", StudentT(10, 2.5)); },
      [] { return built_in("eight schools, non-centred", "eight-schools"); },
      [] { return as_read("eight schools, theta and tau", "eight-schools"); },
      [] { return built_in("eight schools, centred", "eight-schools-centred"); },
      [] { return built_in("logistic regression", "logistic-regression"); },
      [] { return built_in("linear regression", "linear-regression"); },
      [] { return built_in("varying intercepts", "varying-intercepts"); },
      [] { return known("funnel", Funnel()); },
      [] { return known("banana", Banana()); },
      [] { return built_in("two-mode mixture", "two-mode-mixture"); },
      [] { return built_in("hierarchical logistic", "hierarchical-logistic", 40); },
  };
  Json all = Json::array();
  for (const auto& make : targets) {
    const Target target = make();
    if (target.label.find(options.part) == std::string::npos) continue;
    const int count = options.runs > 0 ? std::min(options.runs, target.runs) : target.runs;
    // If the truth is not known, twenty times as many draws: their own error is included.
    const RunOutcome reference =
        target.truth ? *target.truth
                     : outcome_of(sample_once(target.density, 1, target.reference_draws));
    all.push_back(report(target, run_all(target.density, count, options.threads), reference));
    // After each target, so that a stopped run leaves its results.
    if (!options.file.empty()) std::ofstream(options.file) << all.dump(1) << "\n";
  }
}

}  // namespace rehmc::bench
