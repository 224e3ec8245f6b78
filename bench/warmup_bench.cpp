// What warmup costs, and what the sampler that it leaves is worth, on targets of many kinds.
//
// usage: warmup_bench [--seeds N] [--first-seed S] [--credit FILE] [--schedule stan|pooled]
//          [--start random|pathfinder] [--metric KIND] [--target-accept A] [--threads T]
//          [--draws N] [--radius R] [--each 1] [--against-stan 1] [TARGET...]
//
// Four chains per seed, of 1000 draws if nothing else is said. Every evaluation of the density
// counts as a gradient. FILE is german.data-numeric (experiments/data/README.md). --radius: of the
// random starting points. "ill": seeds in which an R-hat was beyond what healthy chains of this
// length may have. --each prints a line for every seed. --against-stan runs every seed also
// with Stan's schedule from random starts, and prints the geometric mean of the ratios of ESS per
// gradient, its standard error, and the runs with R-hat above 1.01, ours and Stan's.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/convergence.hpp"
#include "rehmc/job/run_settings.hpp"
#include "rehmc/run/sample.hpp"
#include "warmup_targets.hpp"

namespace rehmc::bench {
namespace {

struct Outcome {
  double warmup = 0;      ///< gradients of all chains
  double iterations = 0;  ///< of warmup
  double gradients = 0;   ///< in all
  double bulk = 0;        ///< least ESS over coordinates
  double rhat = 0;
  bool healthy = true;  ///< all R-hats are what chains of this length may have
  double acceptance = 0;
  double divergences = 0;
  double step_size = 0;  ///< of the first chain
  std::string metric;

  double efficiency() const { return 1000 * bulk / gradients; }
  double leapfrogs() const { return gradients - warmup; }
};

Outcome run(const Density& density, const SampleSettings& settings) {
  const SampleResult result = sample(density, settings);
  Outcome outcome;
  outcome.bulk = 1e300;
  for (const ChainResult& chain : result.chains) {
    outcome.warmup += static_cast<double>(chain.gradients_warmup);
    outcome.gradients += static_cast<double>(chain.gradients_warmup + chain.gradients_sampling);
    outcome.divergences +=
        static_cast<double>(std::ranges::count(chain.record.ending, Ending::diverged));
    for (const double a : chain.record.acceptance) {
      outcome.acceptance += a / static_cast<double>(chain.record.size() * result.chains.size());
    }
  }
  outcome.step_size = result.chains.front().tuning.step_size;
  outcome.iterations = static_cast<double>(result.chains.front().warmup_iterations);
  outcome.metric = describe(result.chains.front().tuning.metric->kind());
  for (std::size_t j = 0; j < result.names.size(); ++j) {
    std::vector<Series> chains;
    for (const ChainResult& chain : result.chains) {
      chains.push_back({chain.record.draws.data() + j, chain.record.size(),
                        static_cast<std::ptrdiff_t>(result.names.size())});
    }
    const Convergence numbers = convergence(chains);
    outcome.bulk = std::min(outcome.bulk, numbers.ess_bulk);
    outcome.rhat = std::max(outcome.rhat, numbers.rhat);
    const double limit =
        most_healthy_rhat(result.chains.size(), chains.front().size, numbers, result.names.size());
    outcome.healthy = outcome.healthy && numbers.rhat <= limit;
  }
  return outcome;
}

struct Options {
  std::size_t seeds = 10;
  std::uint64_t first_seed = 1;
  std::size_t threads = 1;
  std::string credit = "experiments/data/german.data-numeric";
  bool each = false;
  bool against_stan = false;
  std::vector<std::string> targets;
  SampleSettings settings;
};

Options parse(int argc, char** argv) {
  Options options;
  options.settings.threads = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (!key.starts_with("--")) {
      options.targets.push_back(key);
      continue;
    }
    if (++i == argc) throw ConfigError(fmt::format("{}: needs a value", key));
    const std::string value = argv[i];
    WarmupSettings& warmup = options.settings.warmup;
    if (key == "--seeds") {
      options.seeds = std::stoul(value);
    } else if (key == "--first-seed") {
      options.first_seed = std::stoul(value);
    } else if (key == "--threads") {
      options.threads = std::stoul(value);
    } else if (key == "--credit") {
      options.credit = value;
    } else if (key == "--schedule") {
      warmup.schedule = parse_warmup_schedule(value);
    } else if (key == "--target-accept") {
      warmup.adapt_step_size.target_acceptance = std::stod(value);
    } else if (key == "--start") {
      options.settings.start_kind = parse_start(value);
    } else if (key == "--draws") {
      options.settings.draws = std::stoi(value);
    } else if (key == "--radius") {
      options.settings.initial.initial_radius = std::stod(value);
    } else if (key == "--each") {
      options.each = value == "1";
    } else if (key == "--against-stan") {
      options.against_stan = value == "1";
    } else if (key == "--metric") {
      warmup.metric = parse_metric(value);
    } else {
      throw ConfigError(fmt::format("{}: unknown option", key));
    }
  }
  return options;
}

double median_of(const std::vector<Outcome>& outcomes,
                 const std::function<double(const Outcome&)>& value) {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(value(outcome));
  return median(values);
}

Outcome run_one(const Density& density, const SampleSettings& settings) {
  try {
    return run(density, settings);
  } catch (const std::exception& error) {
    Outcome failed;
    failed.metric = error.what();
    failed.rhat = nan_value;
    failed.healthy = false;
    return failed;
  }
}

SampleSettings stans(SampleSettings settings) {
  settings.warmup.schedule = WarmupSchedule::stan;
  settings.warmup.metric = std::nullopt;
  settings.start_kind = std::nullopt;
  return settings;
}

std::vector<Outcome> run_seeds(const WarmupTarget& target, const Options& options,
                               const SampleSettings& base) {
  std::vector<Outcome> outcomes(options.seeds);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  const Density density = target.make();
  for (std::size_t t = 0; t < options.threads; ++t) {
    threads.emplace_back([&] {
      for (std::size_t s = next++; s < options.seeds; s = next++) {
        SampleSettings settings = base;
        settings.seed = options.first_seed + s;
        outcomes[s] = run_one(density, settings);
      }
    });
  }
  return (threads.clear(), outcomes);
}

void print_row(const std::string& name, const std::vector<Outcome>& outcomes) {
  const auto by = [](auto value) {
    return [=](const Outcome& a, const Outcome& b) { return value(a) < value(b); };
  };
  std::map<std::string, int> metrics;
  for (const Outcome& outcome : outcomes) ++metrics[outcome.metric];
  std::string list;
  for (const auto& [metric, count] : metrics) list += fmt::format(" {}:{}", metric, count);
  const auto rhat = [](const Outcome& o) { return o.rhat; };
  const Outcome& worst =
      *std::ranges::min_element(outcomes, by([](const Outcome& o) { return o.efficiency(); }));
  fmt::print(
      "{:<22} {:>9.0f} {:>6.0f} {:>8.1f} {:>8.1f} {:>9.1f} {:>7.3f} {:>7.3f} {:>5} {:>6.3f} {}\n",
      name, median_of(outcomes, [](const Outcome& o) { return o.warmup; }),
      median_of(outcomes, [](const Outcome& o) { return o.iterations; }),
      median_of(outcomes, [](const Outcome& o) { return o.efficiency(); }), worst.efficiency(),
      median_of(outcomes, [](const Outcome& o) { return 1000 * o.bulk / o.leapfrogs(); }),
      median_of(outcomes, rhat), std::ranges::max_element(outcomes, by(rhat))->rhat,
      std::ranges::count(outcomes, false, &Outcome::healthy),
      median_of(outcomes, [](const Outcome& o) { return o.acceptance; }), list);
  std::fflush(stdout);
}

void print_seeds(const std::vector<Outcome>& outcomes, std::uint64_t first_seed) {
  for (std::size_t s = 0; s < outcomes.size(); ++s) {
    const Outcome& o = outcomes[s];
    fmt::print(
        "  seed {:>4} {:>9.0f} {:>6.0f} {:>8.1f} sampling {:>8.1f} rhat {:.3f} acceptance "
        "{:.3f} step size {:.3g} leapfrogs {:>9.0f} divergences {:.0f} {}\n",
        first_seed + s, o.warmup, o.iterations, o.efficiency(), 1000 * o.bulk / o.leapfrogs(),
        o.rhat, o.acceptance, o.step_size, o.leapfrogs(), o.divergences, o.metric);
  }
}

/// The geometric mean of ESS per gradient, ours over Stan's.
void print_ratio(const std::vector<Outcome>& ours, const std::vector<Outcome>& stan) {
  const auto n = static_cast<double>(ours.size());
  double sum = 0;
  double squares = 0;
  int bad_ours = 0;
  int bad_stan = 0;
  for (std::size_t s = 0; s < ours.size(); ++s) {
    const double ratio = std::log(ours[s].efficiency() / stan[s].efficiency());
    sum += ratio;
    squares += ratio * ratio;
    bad_ours += ours[s].rhat < 1.01 ? 0 : 1;
    bad_stan += stan[s].rhat < 1.01 ? 0 : 1;
  }
  const double error = std::sqrt((squares / n - sum * sum / n / n) / (n - 1));
  fmt::print("  ratio {:.3f} +- {:.3f}; R-hat above 1.01: {} and {} of {}\n", std::exp(sum / n),
             std::exp(sum / n) * error, bad_ours, bad_stan, ours.size());
  std::fflush(stdout);
}

void measure_target(const WarmupTarget& target, const Options& options) {
  const std::vector<Outcome> ours = run_seeds(target, options, options.settings);
  print_row(target.name, ours);
  if (options.each) print_seeds(ours, options.first_seed);
  if (!options.against_stan) return;
  const std::vector<Outcome> stan = run_seeds(target, options, stans(options.settings));
  print_row("  Stan's schedule", stan);
  if (options.each) print_seeds(stan, options.first_seed);
  print_ratio(ours, stan);
}

void measure(const Options& options) {
  fmt::print("{:<22} {:>9} {:>6} {:>8} {:>8} {:>9} {:>7} {:>7} {:>5} {:>6} {}\n", "target",
             "warmup", "iter.", "ESS/1000", "worst", "sampling", "rhat", "worst", "ill", "accept",
             " metric:seeds");
  for (const WarmupTarget& target : warmup_targets(options.credit)) {
    const bool wanted = options.targets.empty() ||
                        std::ranges::find(options.targets, target.name) != options.targets.end();
    if (wanted) measure_target(target, options);
  }
}

}  // namespace
}  // namespace rehmc::bench

int main(int argc, char** argv) {
  try {
    rehmc::bench::measure(rehmc::bench::parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "warmup_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
