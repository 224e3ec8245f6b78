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

double logistic_over_raw() {
  Stream stream({.seed = 1}, Purpose::test);
  std::string x;
  std::string y;
  constexpr int observations = 1000;
  constexpr int predictors = 25;
  for (int n = 0; n < observations; ++n) {
    std::string row;
    for (int k = 0; k < predictors; ++k)
      row += fmt::format("{}{}", k > 0 ? "," : "", stream.normal());
    x += fmt::format("{}[{}]", n > 0 ? "," : "", row);
    y += fmt::format("{}{}", n > 0 ? "," : "", stream.below(2));
  }
  const BridgeDensity model = make(
      "logistic",
      "data { int N; int K; matrix[N, K] x; array[N] int y; } parameters { vector[K] beta; } model "
      "{ beta ~ std_normal(); y ~ bernoulli_logit_glm(x, 0, beta); }",
      fmt::format("{{\"N\": {}, \"K\": {}, \"x\": [{}], \"y\": [{}]}}", observations, predictors, x,
                  y));
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

/// Processor seconds of a run of the command.
double command_seconds(const std::filesystem::path& command, const std::string& progress) {
  const auto of_children = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const std::filesystem::path run = std::filesystem::temp_directory_path() / "rehmc-bench-progress";
  const double before = of_children();
  const stan::ProgramResult result = stan::run_program({command.string(),
                                                        "sample",
                                                        "diagonal-normal",
                                                        "--chains",
                                                        "2",
                                                        "--warmup",
                                                        "0",
                                                        "--draws",
                                                        "5000",
                                                        "--step-size",
                                                        "1e-4",
                                                        "--max-depth",
                                                        "7",
                                                        "--save",
                                                        "x.1",
                                                        "--seed",
                                                        "1",
                                                        "--progress",
                                                        progress,
                                                        "--output",
                                                        run.string(),
                                                        "--force"});
  const double seconds = of_children() - before;
  std::filesystem::remove_all(run);
  if (result.code != 0) throw ModelError(result.output);
  return seconds;
}

/// The cost of the progress display, as a share of a run without it. The two take turns.
double progress_overhead(const std::filesystem::path& command) {
  std::vector<double> overheads;
  for (std::size_t round = 0; round < rounds; ++round) {
    const double without = command_seconds(command, "none");
    overheads.push_back(command_seconds(command, "json") / without - 1);
  }
  return bench::median(overheads);
}

int run(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: stan_bench REHMC EXAMPLES [JSON]\n");
    return 64;
  }
  const std::vector<Row> rows{
      {"stan_over_raw_normal", normal_over_raw(), "ratio", "<= 1.3"},
      {"stan_over_raw_logistic", logistic_over_raw(), "ratio", "<= 1.05"},
      {"eight_schools_stan_seconds", eight_schools_seconds(words[1], words[2]), "s", ""},
      {"progress_overhead_normal", progress_overhead(words[1]), "fraction", "<= 0.005"}};
  fmt::print("processor: {}\n\n", processor_name());
  std::string json = "[\n";
  for (const Row& row : rows) {
    fmt::print("{:<42} {:>14.5g}  {:<26} {}\n", row.name, row.value, row.unit, row.bar);
    json += fmt::format("{}  {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\"}}",
                        json.size() > 2 ? ",\n" : "", row.name, row.value, row.unit);
  }
  if (count > 3) std::ofstream(words[3]) << json << "\n]\n";
  return 0;
}

}  // namespace
}  // namespace rehmc

int main(int count, char** words) { return rehmc::bench::run_program(rehmc::run, count, words); }
