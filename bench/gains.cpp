// What recycling states and gradients gains, and whether its error bars are honest: `make gains`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "models/banana.hpp"
#include "models/correlated_normal.hpp"
#include "models/funnel.hpp"
#include "models/log_exponential.hpp"
#include "models/registry.hpp"
#include "models/student_t.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/run/sharpening.hpp"
#include "rehmc/run/summary.hpp"

namespace rehmc {
namespace {

constexpr std::size_t summaries = 2 + standard_probabilities.size();

std::string summary_name(std::size_t s) {
  if (s == 0) return "mean";
  if (s == 1) return "sd";
  return fmt::format("q{}", 100 * standard_probabilities[s - 2]);
}

/// A value and its own error bar.
struct Value {
  double value = 0;
  double mcse = 0;
};

std::array<Value, summaries> values_of(const Estimate& estimate) {
  std::array<Value, summaries> values;
  values[0] = {estimate.mean, estimate.mcse_mean};
  values[1] = {estimate.sd, estimate.mcse_sd};
  for (std::size_t q = 0; q < estimate.quantiles.size(); ++q) {
    values[2 + q] = {estimate.quantiles[q].value, estimate.quantiles[q].mcse};
  }
  return values;
}

/// One parameter of one run.
struct Outcome {
  std::array<Value, summaries> plain;
  std::array<Value, summaries> recycled;
  std::array<Value, summaries> sharpened;
  bool sharp = false;
  bool mean_has_error = true;
  bool sd_has_error = true;
  std::array<FeatureSet, summaries> sets{};
};

struct RunOutcome {
  std::vector<Outcome> parameters;
  double stein = 0;
  bool passed = true;
};

/// What is known of a target without sampling it: no errors.
template <class Model>
RunOutcome exact(const Model& model) {
  RunOutcome truth;
  for (std::size_t i = 0; i < model.dimension(); ++i) {
    auto& values = truth.parameters.emplace_back().sharpened;
    const double sd = std::sqrt(model.variance(i));
    values[0].value = model.mean(i);
    values[1].value = sd;
    for (std::size_t q = 0; q < standard_probabilities.size(); ++q) {
      double low = model.mean(i) - 20 * sd;
      double high = model.mean(i) + 20 * sd;
      for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (model.cumulative(i, middle) < standard_probabilities[q] ? low : high) = middle;
      }
      values[2 + q].value = (low + high) / 2;
    }
  }
  return truth;
}

struct Target {
  std::string label;
  Density density;
  int runs = 400;
  std::optional<RunOutcome> truth{};
};

template <class Model>
Target known(std::string label, const Model& model) {
  return {std::move(label), model, 400, exact(model)};
}

/// A density read by its coordinates, whatever else its users read.
struct Coordinates {
  Density density;
  double operator()(std::span<const double> x, std::span<double> gradient) {
    return density(x, gradient);
  }
  std::size_t dimension() const { return density.dimension(); }
  std::vector<std::string> names() const { return density.names(); }
};

Target built_in(std::string label, const std::string& name, int runs = 400) {
  return {std::move(label), Coordinates{make_model(name, "", "").density}, runs};
}
/// As users read it, functions of several coordinates included.
Target as_read(std::string label, const std::string& name, int runs = 400) {
  return {std::move(label), make_model(name, "", "").density, runs};
}

RunOutcome run_once(const Density& density, std::uint64_t seed, int draws) {
  SampleSettings settings;
  settings.draws = draws;
  settings.threads = 1;
  settings.seed = seed;
  const SampleResult result = sample(density, settings);
  std::vector<ParameterSummary> rows = summarise(result);
  const Sharpening sharpening = sharpen_run(result, rows);
  RunOutcome outcome;
  outcome.stein = sharpening.check->worst;
  outcome.passed = sharpening.check->passed();
  for (const ParameterSummary& row : rows) {
    Outcome& one = outcome.parameters.emplace_back();
    one.plain = values_of(row.plain);
    one.recycled = values_of(*row.recycled);
    one.sharp = row.sharpened.has_value();
    // What the summary of a run shows where sharpening is refused.
    one.sharpened = one.sharp ? values_of(row.sharpened->estimate) : one.recycled;
    if (!one.sharp) continue;
    one.mean_has_error = row.sharpened->mean_has_error;
    one.sd_has_error = row.sharpened->sd_has_error;
    one.sets[0] = row.sharpened->mean_set;
    one.sets[1] = row.sharpened->sd_set;
    std::copy(row.sharpened->quantile_sets.begin(), row.sharpened->quantile_sets.end(),
              one.sets.begin() + 2);
  }
  return outcome;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / (static_cast<double>(values.size()) - 1);
}

/// One summary over all parameters of a target.
struct Row {
  double plain_gain = 1;     ///< plain over sharpened variance, geometric mean
  double recycled_gain = 1;  ///< plain over recycled
  double honesty = 0;        ///< mean over parameters of the mean of (error / MCSE)^2
  double least_honesty = 0;
  double most_honesty = 0;
  double worst_bias = 0;   ///< of mean(error) in its standard errors
  double worst_ratio = 0;  ///< recycled over sharpened variance, least over parameters
  double flagged = 0;      ///< share of runs that warned of no finite error
};

Row row_of(const std::vector<RunOutcome>& runs, const RunOutcome& reference, std::size_t s) {
  const std::size_t parameters = reference.parameters.size();
  const auto count = static_cast<double>(runs.size());
  Row row;
  row.least_honesty = 1e300;
  row.worst_ratio = 1e300;
  double log_gain = 0;
  double log_recycled = 0;
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<double> plain;
    std::vector<double> recycled;
    std::vector<double> sharpened;
    double squares = 0;
    for (const RunOutcome& run : runs) {
      const Outcome& one = run.parameters[p];
      plain.push_back(one.plain[s].value);
      recycled.push_back(one.recycled[s].value);
      sharpened.push_back(one.sharpened[s].value);
      const double error = one.sharpened[s].value - reference.parameters[p].sharpened[s].value;
      const double own = one.sharpened[s].mcse;
      const double other = reference.parameters[p].sharpened[s].mcse;
      squares += error * error / (own * own + other * other) / count;
      const bool warned = s == 0 ? !one.mean_has_error : s == 1 && !one.sd_has_error;
      row.flagged += (warned ? 1.0 : 0.0) / count / static_cast<double>(parameters);
    }
    log_gain += std::log(variance_of(plain) / variance_of(sharpened));
    log_recycled += std::log(variance_of(plain) / variance_of(recycled));
    row.worst_ratio = std::min(row.worst_ratio, variance_of(recycled) / variance_of(sharpened));
    row.honesty += squares / static_cast<double>(parameters);
    row.least_honesty = std::min(row.least_honesty, squares);
    row.most_honesty = std::max(row.most_honesty, squares);
    const double bias = mean_of(sharpened) - reference.parameters[p].sharpened[s].value;
    const double error = std::sqrt(variance_of(sharpened) / count +
                                   std::pow(reference.parameters[p].sharpened[s].mcse, 2));
    row.worst_bias = std::max(row.worst_bias, std::abs(bias) / error);
  }
  row.plain_gain = std::exp(log_gain / static_cast<double>(parameters));
  row.recycled_gain = std::exp(log_recycled / static_cast<double>(parameters));
  return row;
}

std::vector<RunOutcome> run_all(const Density& density, int count) {
  std::vector<RunOutcome> runs(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (int r = next++; r < count; r = next++) {
        runs[static_cast<std::size_t>(r)] =
            run_once(density, 1000 + static_cast<std::uint64_t>(r), 1000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return runs;
}

void report(const Target& target, const std::vector<RunOutcome>& runs,
            const RunOutcome& reference) {
  double refused = 0;
  double failed = 0;
  for (const RunOutcome& run : runs) {
    failed += run.passed ? 0 : 1;
    for (const Outcome& one : run.parameters) refused += one.sharp ? 0 : 1;
  }
  fmt::print("{} (d = {}, {} runs; not sharpened {:.1f}%, Stein check failed {})\n", target.label,
             reference.parameters.size(), runs.size(),
             100 * refused / static_cast<double>(runs.size() * reference.parameters.size()),
             failed);
  for (std::size_t s = 0; s < summaries; ++s) {
    const Row row = row_of(runs, reference, s);
    std::map<std::string, int> sets;
    for (const RunOutcome& run : runs) {
      for (const Outcome& one : run.parameters) ++sets[std::string(describe(one.sets[s]))];
    }
    std::string used;
    for (const auto& [name, number] : sets) {
      used += fmt::format(
          " {} {:.0f}%", name,
          100.0 * number / static_cast<double>(runs.size() * reference.parameters.size()));
    }
    fmt::print(
        "  {:6} recycled {:8.2f} sharpened {:12.1f}  z^2 {:5.2f} [{:.2f}, {:.2f}] bias {:.1f} vs "
        "recycled {:.2f} warned {:.2f}{}\n",
        summary_name(s), row.recycled_gain, row.plain_gain, row.honesty, row.least_honesty,
        row.most_honesty, row.worst_bias, row.worst_ratio, row.flagged, used);
  }
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
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
  for (const auto& make : targets) {
    const Target target = make();
    if (target.label.find(only) == std::string::npos) continue;
    const int count = argc > 2 ? std::atoi(argv[2]) : target.runs;
    const RunOutcome reference =
        target.truth ? *target.truth
                     : run_once(target.density, 1, argc > 3 ? std::atoi(argv[3]) : 20000);
    report(target, run_all(target.density, count), reference);
  }
  return 0;
}

}  // namespace
}  // namespace rehmc

int main(int argc, char** argv) { return rehmc::run(argc, argv); }
