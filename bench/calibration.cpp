// Runs every target many times, cuts the runs to the wanted numbers of draws, and judges them.
#include "calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "bench/targets/exact_target.hpp"
#include "calibration_check.hpp"
#include "calibration_numbers.hpp"
#include "in_parallel.hpp"
#include "rehmc/estimate/distributions.hpp"
#include "rehmc/job/until.hpp"

namespace rehmc::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr int usual_runs = 400;
constexpr std::size_t most_draws = 1000;
constexpr const char* until = "mcse(mean)<=0.02*sd";
/// Probability that any bar seems not to hold by chance.
constexpr double family_error = 0.01;

/// Draws per chain; 0: until the condition holds.
std::vector<std::size_t> sizes_of(const GainsOptions& options) {
  std::vector<std::size_t> sizes;
  for (const std::string& text : options.draws) {
    std::size_t draws = 0;
    if (text != "until") {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), draws);
      if (error != std::errc{} || end != text.data() + text.size() || draws < 4) {
        throw std::runtime_error(
            fmt::format("draws: found '{}', must be at least 4, or \"until\"", text));
      }
    }
    sizes.push_back(draws);
  }
  return sizes;
}

std::string name_of(std::size_t size) { return size == 0 ? "until" : fmt::format("4 x {}", size); }

/// The shorter runs that a run contains, each summarised once.
class ShorterRuns {
 public:
  explicit ShorterRuns(const SampleResult& result) : result_(result) {}

  const RunOutcome& of(std::size_t draws) { return summary_of(draws).outcome; }
  /// As a job decides when to stop, which takes at most the usual number of draws.
  const RunOutcome& at_stop() {
    static const std::vector<Condition> conditions = parse_until(until);
    for (std::uint64_t look = next_look(0, most_draws);; look = next_look(look + 1, most_draws)) {
      const Summarised& run = summary_of(look);
      const Look seen{run.rows, &run.sharpening, result_.chains.size(), look};
      const bool met = std::ranges::all_of(
          conditions, [&](const Condition& condition) { return judge(condition, seen).met; });
      if (met || look == most_draws) return run.outcome;
    }
  }

 private:
  struct Summarised {
    std::vector<ParameterSummary> rows;
    Sharpening sharpening;
    RunOutcome outcome;
  };

  const Summarised& summary_of(std::size_t draws) {
    const auto [place, fresh] = known_.try_emplace(draws);
    Summarised& run = place->second;
    if (!fresh) return run;
    const SampleResult first = first_draws(result_, draws);
    run.rows = summarise(first);
    run.sharpening = sharpen_run(first, run.rows);
    run.outcome = outcome_of(first, run.rows, run.sharpening);
    return run;
  }

  const SampleResult& result_;
  std::map<std::size_t, Summarised> known_;
};

/// The runs of one target, for every size.
using Runs = std::vector<std::vector<RunOutcome>>;

Runs run_all(const Density& density, const std::vector<std::size_t>& sizes, int count,
             const GainsOptions& options) {
  Runs runs(sizes.size(), std::vector<RunOutcome>(static_cast<std::size_t>(count)));
  std::size_t longest = most_draws;
  for (const std::size_t size : sizes) longest = std::max(longest, size);
  const Sampler sampler = options.single ? Sampler::other : Sampler::rehmc;
  in_parallel(count, options.threads, [&](int r) {
    const auto run = static_cast<std::size_t>(r);
    const SampleResult result =
        sample_once(density, 1000 + run, static_cast<int>(longest), sampler);
    ShorterRuns shorter(result);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      runs[s][run] = sizes[s] == 0 ? shorter.at_stop() : shorter.of(sizes[s]);
    }
  });
  return runs;
}

/// Bounds of all bars of all targets hold together with the probability of the family.
Margin margin_for(std::size_t sizes) {
  std::size_t bars = 0;
  constexpr std::size_t squares = 5;  // the mean, and four quarters
  for (const NamedTarget& target : exact_targets()) {
    bars += sizes * judged.size() * (kinds.size() * squares + target.coordinates);
  }
  const double each = family_error / static_cast<double>(bars);
  return [each](std::size_t runs) {
    return two_sided_student_quantile(each, static_cast<double>(runs - 1));
  };
}

Json truth_as_json(const std::vector<ExactValues>& truth) {
  Json all = Json::array();
  for (const ExactValues& values : truth) {
    all.push_back({{"mean", values.mean},
                   {"sd", values.sd},
                   {"quantiles", values.quantiles},
                   {"rare_share", values.rare_share}});
  }
  return all;
}

Json judge_size(const std::vector<RunOutcome>& runs, const std::vector<ExactValues>& truth,
                std::size_t size, const Margin& margin) {
  double draws = 0;
  double failed = 0;
  for (const RunOutcome& run : runs) {
    draws += static_cast<double>(run.draws) / static_cast<double>(runs.size());
    failed += run.passed ? 0 : 1;
  }
  fmt::print(" {} (mean {:.0f} draws; Stein check failed {} times)\n", name_of(size), draws,
             failed);
  Json json{{"draws", name_of(size)}, {"mean_draws", draws}, {"stein_check_failed", failed}};
  for (const std::size_t summary : judged) {
    for (const Kind kind : kinds) {
      const Calibration calibration = calibrate(runs, truth, kind, summary, margin);
      fmt::print("  {:5} {:9} {}\n", summary_name(summary), describe(kind), as_text(calibration));
      Json row{{"summary", summary_name(summary)}, {"kind", describe(kind)}};
      row.update(as_json(calibration));
      json["rows"].push_back(row);
    }
  }
  std::fflush(stdout);
  return json;
}

/// How many lines of the table have a bar that does not hold.
void print_failures(const Json& target) {
  int lines = 0;
  int failures = 0;
  for (const Json& size : target["sizes"]) {
    for (const Json& row : size["rows"]) {
      if (!row.contains("holds")) continue;
      ++lines;
      failures += row["holds"] ? 0 : 1;
    }
  }
  fmt::print(" a bar does not hold in {} of {} lines\n", failures, lines);
}

/// One line for each parameter and judged summary of each run.
void write_raw(std::ofstream& file, const std::string& label, std::size_t size,
               const std::vector<RunOutcome>& runs, const std::vector<ExactValues>& truth) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t p = 0; p < truth.size(); ++p) {
      const Outcome& one = runs[r].parameters[p];
      for (const std::size_t summary : judged) {
        file << fmt::format("{},{},{},{},{},{},{:.10g}", label, name_of(size), 1000 + r,
                            runs[r].draws, p, summary_name(summary), true_value(truth[p], summary));
        for (const Kind kind : {Kind::plain, Kind::recycled, Kind::shown}) {
          const Value& value = value_of(one, kind, summary);
          file << fmt::format(",{:.10g},{:.6g},{:.4g}", value.value, value.mcse, value.degrees);
        }
        const bool tail_seen = summary == 0   ? one.mean_tail_seen
                               : summary == 1 ? one.sd_tail_seen
                                              : true;
        file << fmt::format(",{:d},{:d},{}\n", one.sharp, !tail_seen, describe(one.sets[summary]));
      }
    }
  }
  file.flush();
}

void open_raw(std::ofstream& file, const std::string& path) {
  if (path.empty()) return;
  file.open(path);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
  file << "target,size,seed,draws,parameter,summary,truth,plain,plain_mcse,plain_degrees,recycled,"
          "recycled_mcse,recycled_degrees,shown,shown_mcse,shown_degrees,sharpened,heavy_tails,"
          "features\n";
}

}  // namespace

void write_calibration(const GainsOptions& options) {
  const std::vector<std::size_t> sizes = sizes_of(options);
  const int count = options.runs > 0 ? options.runs : usual_runs;
  const Margin margin = margin_for(sizes.size());
  std::ofstream raw;
  open_raw(raw, options.raw);
  Json all = Json::array();
  for (const NamedTarget& named : exact_targets()) {
    if (named.label.find(options.part) == std::string::npos) continue;
    const ExactTarget target = named.make(1);
    const auto begin = std::chrono::steady_clock::now();
    const Runs runs = run_all(target.density, sizes, count, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print("{} ({} parameters, {} runs in {:.0f} s)\n", named.label, target.truth.size(), count,
               took.count());
    Json json{{"target", named.label}, {"runs", count}, {"truth", truth_as_json(target.truth)}};
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      json["sizes"].push_back(judge_size(runs[s], target.truth, sizes[s], margin));
      if (raw.is_open()) write_raw(raw, named.label, sizes[s], runs[s], target.truth);
    }
    print_failures(json);
    all.push_back(json);
    // After each target, so that a stopped run leaves its results.
    if (!options.file.empty()) std::ofstream(options.file) << all.dump(1) << "\n";
  }
}

void check_targets(const GainsOptions& options) {
  check_judgement();
  for (const NamedTarget& named : exact_targets()) {
    if (named.label.find(options.part) == std::string::npos) continue;
    const ExactTarget target = named.make(1);
    const double difference = check_target(named, target);
    fmt::print("{}: gradients right; truth within {:.1g} sds of coarser quadrature\n", named.label,
               difference);
    for (const ExactValues& values : target.truth) {
      fmt::print("  mean {:10.6f}  sd {:9.6f}  2.5% {:10.6f}  97.5% {:10.6f}  rare share {:.3f}\n",
                 values.mean, values.sd, values.quantiles.front(), values.quantiles.back(),
                 values.rare_share);
    }
  }
}

}  // namespace rehmc::bench
