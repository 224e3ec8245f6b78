// The speed of Stan programs and of the command: their overhead over the library.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "interleave.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/processor.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/bridge.hpp"
#include "run_program.hpp"
#include "stan/model.hpp"
#include "stan/process.hpp"

namespace rehmc {
namespace {

constexpr std::size_t rounds = 25;

struct Row {
  std::string name;
  double value;
  std::string unit;
  std::string bar;
};

BridgeDensity make(const std::string& name, const std::string& code, const std::string& data) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("rehmc-bench-{}.stan", name);
  std::ofstream(file) << code;
  BridgeDensity density = stan::make_file_model(file, data, "data", {}).density;
  std::filesystem::remove(file);
  return density;
}

/// Sampling with the default recycling, over the same number of gradients and nothing else.
double over_raw(const BridgeDensity& model, double step_size, int depth, std::uint64_t draws) {
  KernelSettings settings;
  settings.nuts.max_depth = depth;
  const std::unique_ptr<Kernel> kernel = make_kernel(model, settings);
  const std::vector<double> start(model.dimension(), 0.1);
  kernel->set_position(start);
  const Tuning tuning{step_size, make_unit_metric(model.dimension())};
  std::uint64_t iteration = 0;
  std::uint64_t leapfrogs = 0;
  BridgeDensity raw = model;
  std::vector<double> gradient(model.dimension());
  const auto sample = [&] {
    leapfrogs = 0;
    for (std::uint64_t i = 0; i < draws; ++i) {
      leapfrogs += kernel->transition(tuning, {1, 0, iteration++}).leapfrogs;
    }
  };
  const auto loop = [&] {
    for (std::uint64_t i = 0; i < leapfrogs; ++i) {
      benchmark::DoNotOptimize(raw(start, gradient));
    }
  };
  sample();
  // Draws of one round differ in their numbers of steps: each loop follows the draws it is for.
  const auto seconds = bench::interleave({sample, loop}, rounds);
  return bench::median_over_rounds(seconds, [](const auto& s) { return s[0] / s[1]; });
}

double normal_over_raw() {
  const BridgeDensity model = make(
      "normal",
      "transformed data { vector[250] s; for (i in 1 : 250) s[i] = 0.1 + i / 50.0; } parameters "
      "{ vector[250] x; } model { x ~ normal(0, s); }",
      "{}");
  return over_raw(model, 1e-4, 7, 20);
}

/// Data without any signal.
std::string random_regression(int observations, int predictors) {
  Stream stream({.seed = 1}, Purpose::test);
  std::string x;
  std::string y;
  for (int n = 0; n < observations; ++n) {
    std::string row;
    for (int k = 0; k < predictors; ++k)
      row += fmt::format("{}{}", k > 0 ? "," : "", stream.normal());
    x += fmt::format("{}[{}]", n > 0 ? "," : "", row);
    y += fmt::format("{}{}", n > 0 ? "," : "", stream.below(2));
  }
  return fmt::format("{{\"N\": {}, \"K\": {}, \"x\": [{}], \"y\": [{}]}}", observations, predictors,
                     x, y);
}

double logistic_over_raw() {
  const BridgeDensity model = make(
      "logistic",
      "data { int N; int K; matrix[N, K] x; array[N] int y; } parameters { vector[K] beta; } model "
      "{ beta ~ std_normal(); y ~ bernoulli_logit_glm(x, 0, beta); }",
      random_regression(1000, 25));
  return over_raw(model, 0.05, 10, 20);
}

double eight_schools_seconds(const std::filesystem::path& command,
                             const std::filesystem::path& examples) {
  const std::filesystem::path run = std::filesystem::temp_directory_path() / "rehmc-bench-schools";
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const stan::ProgramResult result =
        stan::run_program({command.string(), "sample", (examples / "eight_schools.stan").string(),
                           "--data", (examples / "eight_schools.json").string(), "--seed", "1",
                           "--quiet", "--output", run.string(), "--force"});
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (result.code != 0) throw ModelError(result.output);
  }
  std::filesystem::remove_all(run);
  return bench::median(seconds);
}

/// Processor seconds of a run of the command with these words.
double command_seconds(const std::filesystem::path& command, std::vector<std::string> words) {
  const auto of_children = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const std::filesystem::path run = std::filesystem::temp_directory_path() / "rehmc-bench-command";
  words.insert(words.begin(), {command.string(), "sample"});
  words.insert(words.end(), {"--seed", "1", "--quiet", "--output", run.string(), "--force"});
  const double before = of_children();
  const stan::ProgramResult result = stan::run_program(words);
  const double seconds = of_children() - before;
  std::filesystem::remove_all(run);
  if (result.code != 0) throw ModelError(result.output);
  return seconds;
}

/// A Stan program with its data, in files.
struct ProgramFiles {
  std::string name;
  std::filesystem::path program;
  std::filesystem::path data;
};

/// Everything that the command does by default, as a ratio to no recycling and no sharpening: what
/// both need is sampling, warmup, CSV, netCDF, plain summary and page. The two take turns.
Row everything_over_plain(const std::filesystem::path& command, const ProgramFiles& files) {
  constexpr int turns = 7;
  constexpr double enough_seconds = 10;  // of the processor; a long run is hardly disturbed
  const std::vector<std::string> words{files.program.string(), "--data", files.data.string(),
                                       "--progress", "none"};
  std::vector<std::string> plain = words;
  plain.insert(plain.end(), {"--recycle", "none", "--sharpen", "none"});
  std::vector<double> ratios;
  double spent = 0;
  for (int turn = 0; turn < turns && spent < enough_seconds; ++turn) {
    const double without = command_seconds(command, plain);
    const double with = command_seconds(command, words);
    ratios.push_back(with / without);
    spent += without + with;
  }
  return {"everything_over_plain_" + files.name, bench::median(ratios), "ratio", "<= 1.5"};
}

ProgramFiles written(const std::string& name, const std::string& code, const std::string& data) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  ProgramFiles files{name, folder / fmt::format("rehmc-bench-{}.stan", name),
                     folder / fmt::format("rehmc-bench-{}.json", name)};
  std::ofstream(files.program) << code;
  std::ofstream(files.data) << data;
  return files;
}

/// 3 parameters and 2000 transformed ones.
ProgramFiles curve() {
  return written(
      "curve",
      "parameters { real mu; real<lower=0> sigma; real z; } transformed parameters { "
      "vector[2000] f; for (i in 1 : 2000) f[i] = mu + sigma * sin(0.01 * i + z); } model "
      "{ mu ~ std_normal(); sigma ~ std_normal(); z ~ std_normal(); }",
      "{}");
}

/// A logistic regression of 200 observations with their log likelihoods and predictions.
ProgramFiles predictive_regression() {
  constexpr int observations = 200;
  return written(
      "predictive",
      "data { int N; int K; matrix[N, K] x; array[N] int y; } parameters { real alpha; "
      "vector[K] beta; } model { alpha ~ normal(0, 2); beta ~ std_normal(); y ~ "
      "bernoulli_logit_glm(x, alpha, beta); } generated quantities { vector[N] log_lik; "
      "array[N] int y_rep; for (n in 1 : N) { real eta = alpha + x[n] * beta; log_lik[n] = "
      "bernoulli_logit_lpmf(y[n] | eta); y_rep[n] = bernoulli_logit_rng(eta); } }",
      random_regression(observations, 5));
}

/// A model of 294 columns: 48 parameters, 46 transformed ones, log likelihoods and predictions.
ProgramFiles groups_of_294_columns() {
  constexpr int observations = 100;
  constexpr int groups = 46;
  Stream stream({.seed = 1}, Purpose::test);
  std::string y;
  for (int n = 0; n < observations; ++n)
    y += fmt::format("{}{}", n > 0 ? "," : "", stream.normal());
  return written(
      "columns",
      "data { int N; int G; vector[N] y; } parameters { real mu; real<lower=0> tau; vector[G] z; } "
      "transformed parameters { vector[G] theta = mu + tau * z; } model { mu ~ std_normal(); tau ~ "
      "std_normal(); z ~ std_normal(); for (n in 1 : N) y[n] ~ normal(theta[1 + n % G], 1); } "
      "generated quantities { vector[N] log_lik; vector[N] y_rep; for (n in 1 : N) { log_lik[n] = "
      "normal_lpdf(y[n] | theta[1 + n % G], 1); y_rep[n] = normal_rng(theta[1 + n % G], 1); } }",
      fmt::format("{{\"N\": {}, \"G\": {}, \"y\": [{}]}}", observations, groups, y));
}

/// The bytes of a run folder over those of its CSV files alone, which are what CmdStan writes.
double folder_over_csv(const std::filesystem::path& command) {
  const ProgramFiles files = groups_of_294_columns();
  const std::filesystem::path run = std::filesystem::temp_directory_path() / "rehmc-bench-folder";
  const stan::ProgramResult result = stan::run_program(
      {command.string(), "sample", files.program.string(), "--data", files.data.string(), "--seed",
       "1", "--quiet", "--output", run.string(), "--force"});
  if (result.code != 0) throw ModelError(result.output);
  double all = 0;
  double text = 0;
  for (const auto& file : std::filesystem::directory_iterator(run)) {
    const auto bytes = static_cast<double>(file.file_size());
    all += bytes;
    if (file.path().extension() == ".csv") text += bytes;
  }
  std::filesystem::remove_all(run);
  return all / text;
}

/// The cost of the progress display, as a share of a run without it. The two take turns.
double progress_overhead(const std::filesystem::path& command) {
  const auto seconds = [&](const std::string& progress) {
    return command_seconds(command, {"diagonal-normal", "--chains", "2", "--warmup", "0", "--draws",
                                     "5000", "--step-size", "1e-4", "--max-depth", "7", "--save",
                                     "x.1", "--progress", progress});
  };
  std::vector<double> overheads;
  for (std::size_t round = 0; round < rounds; ++round) {
    const double without = seconds("none");
    overheads.push_back(seconds("json") / without - 1);
  }
  return bench::median(overheads);
}

int run(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: stan_bench REHMC EXAMPLES [JSON]\n");
    return 64;
  }
  const std::filesystem::path command = words[1];
  const std::filesystem::path examples = words[2];
  const auto example = [&](const std::string& name) {
    return ProgramFiles{name, examples / (name + ".stan"), examples / (name + ".json")};
  };
  fmt::print("processor: {}\n\n", processor_name());
  std::string json = "[\n";
  const auto report = [&](const Row& row) {
    fmt::print("{:<42} {:>14.5g}  {:<26} {}\n", row.name, row.value, row.unit, row.bar);
    std::fflush(stdout);  // the next row may take a while
    json += fmt::format("{}  {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\"}}",
                        json.size() > 2 ? ",\n" : "", row.name, row.value, row.unit);
  };
  report({"stan_over_raw_normal", normal_over_raw(), "ratio", "<= 1.3"});
  report({"stan_over_raw_logistic", logistic_over_raw(), "ratio", "<= 1.05"});
  report({"eight_schools_stan_seconds", eight_schools_seconds(words[1], words[2]), "s", ""});
  for (const ProgramFiles& files : {example("eight_schools"), example("varying_intercepts"),
                                    curve(), predictive_regression()}) {
    report(everything_over_plain(command, files));
  }
  report({"folder_over_csv", folder_over_csv(command), "ratio", "<= 3"});
  report({"progress_overhead_normal", progress_overhead(words[1]), "fraction", "<= 0.005"});
  if (count > 3) std::ofstream(words[3]) << json << "\n]\n";
  return 0;
}

}  // namespace
}  // namespace rehmc

int main(int count, char** words) { return rehmc::bench::run_program(rehmc::run, count, words); }
