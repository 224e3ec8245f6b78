// The speed of the sampler: ratios measured within one run, printed as a table and written as JSON.
//
// rehmc_bench [--only=normal|logistic|regressions|dimensions] [FILE]
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "interleave.hpp"
#include "models/aligned_vector.hpp"
#include "models/diagonal_normal.hpp"
#include "models/logistic_regression.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/processor.hpp"
#include "rehmc/dynamics/pool.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/features.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "run_program.hpp"

namespace rehmc {
namespace {

using bench::append;
using bench::cpu_seconds;
using bench::interleave;
using bench::median_over_rounds;

constexpr std::size_t rounds = 25;
/// Samplers are created this many times, because their position in memory changes the time by a few
/// percent.
constexpr std::size_t layouts = 8;
/// A step so small that no tree turns: every draw is a full tree.
constexpr double tiny_step = 1e-4;

struct Row {
  std::string name;
  double value;
  std::string unit;
  std::string bar;  ///< the project's requirement; empty if there is none
};

/// A chain with a fixed tuning, for timing.
class Sampler {
 public:
  struct Options {
    Recycling recycling{RecyclingKind::none, 0};
    bool moments = false;
    int depth = 7;
    double step_size = tiny_step;
  };

  Sampler(const Density& density, const Options& options)
      : tuning_{options.step_size, make_unit_metric(density.dimension())} {
    KernelSettings settings;
    settings.recycling = options.recycling;
    settings.nuts.max_depth = options.depth;
    kernel_ = make_kernel(density, settings);
    const std::vector<double> start(density.dimension(), 0.1);
    kernel_->set_position(start);
    if (options.moments) {
      features_ = std::make_unique<MomentFeatures>(start);
      kernel_->use_features(features_.get());
    }
  }

  /// Draws n times and returns the number of leapfrog steps.
  std::uint64_t draw(std::uint64_t n) {
    return draw(n, [](const Transition& transition) {
      benchmark::DoNotOptimize(transition.recycled.data());
    });
  }
  /// Likewise, and passes every transition to a function.
  template <class Look>
  std::uint64_t draw(std::uint64_t n, Look&& look) {
    std::uint64_t leapfrogs = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Transition& transition = kernel_->transition(tuning_, {1, 0, iteration_++});
      leapfrogs += transition.leapfrogs;
      look(transition);
    }
    return leapfrogs;
  }

 private:
  Tuning tuning_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<MomentFeatures> features_;
  std::uint64_t iteration_ = 0;
};

/// Sampling as `rehmc sample` does it: moments over all states, spread:8, everything recorded, with
/// or without the gradients that sharpening needs.
class Recorder {
 public:
  Recorder(const Density& density, const Sampler::Options& options, KeptGradients gradients)
      : sampler_(density, options), reader_(density, {}), gradients_(gradients) {
    reader_.set_centre(std::vector<double>(density.dimension(), 0.1));
  }
  void draw(std::uint64_t n) {
    ChainRecord record(reader_, n, gradients_);
    sampler_.draw(
        n, [&](const Transition& transition) { record.add(reader_.read(transition, Address{})); });
    benchmark::DoNotOptimize(record.kept_gradient.data());
  }

 private:
  Sampler sampler_;
  QuantityReader reader_;
  KeptGradients gradients_;
};

/// The cost of keeping gradients.
void time_sharpening(std::vector<Row>& rows, const std::string& name, const Density& density,
                     Sampler::Options options, std::uint64_t draws, const std::string& bar) {
  options.recycling = {RecyclingKind::spread, 8};
  options.moments = true;
  std::vector<std::vector<double>> seconds;
  for (std::size_t layout = 0; layout < layouts; ++layout) {
    Recorder without(density, options, KeptGradients::no);
    Recorder with(density, options, KeptGradients::yes);
    append(seconds,
           interleave({[&] { without.draw(draws); }, [&] { with.draw(draws); }}, 2 * rounds));
  }
  rows.push_back({name, median_over_rounds(seconds, [](const auto& s) { return s[1] / s[0] - 1; }),
                  "fraction", bar});
}

/// The regressions at the end of a run of 4 x 1000 draws in 300 dimensions, on one core.
void time_regressions(std::vector<Row>& rows) {
  SampleSettings settings;
  settings.seed = 1;
  const std::vector<double> ones(300, 1.0);
  const SampleResult result = sample(DiagonalNormal(ones), settings);
  std::vector<ParameterSummary> parameters = summarise(result);
  const double begin = cpu_seconds();
  sharpen_run(result, parameters);
  rows.push_back({"sharpen_regressions_d300", cpu_seconds() - begin, "s", "<= 5"});
}

/// Leapfrog steps and nothing else: no sampler, no momentum draws, no acceptance.
template <class Model>
void bare_loop(Model& model, std::uint64_t steps) {
  const std::size_t d = model.dimension();
  // One block, a cache line apart: separate allocations sometimes map to the same cache sets.
  AlignedVector block(3 * vector_stride(d));
  double* x = block.data();
  double* p = x + vector_stride(d);
  double* g = p + vector_stride(d);
  for (std::size_t i = 0; i < d; ++i) x[i] = p[i] = 0.1;
  const std::span<const double> position(x, d);
  const std::span<double> gradient(g, d);
  double log_density = model(position, gradient);
  for (std::uint64_t step = 0; step < steps; ++step) {
#pragma omp simd aligned(x, p, g : 64)
    for (std::size_t i = 0; i < d; ++i) {
      p[i] += 0.5 * tiny_step * g[i];
      x[i] += tiny_step * p[i];
    }
    log_density += model(position, gradient);
#pragma omp simd aligned(p, g : 64)
    for (std::size_t i = 0; i < d; ++i) p[i] += 0.5 * tiny_step * g[i];
  }
  benchmark::DoNotOptimize(log_density);
}

DiagonalNormal wishart_normal(std::size_t dimension) {
  std::vector<double> deviations =
      wishart_eigenvalues({.dimension = dimension, .degrees_of_freedom = dimension, .seed = 1});
  for (double& value : deviations) value = std::sqrt(value);
  return DiagonalNormal(deviations);
}

void time_normal(std::vector<Row>& rows) {
  DiagonalNormal model = wishart_normal(250);
  // Steps far below the smallest scale of the target, so that full trees of 127 steps do not turn.
  constexpr std::uint64_t draws = 200;
  std::uint64_t steps = 0;
  std::vector<std::vector<double>> seconds;
  for (std::size_t layout = 0; layout < layouts; ++layout) {
    Sampler none(model, {});
    Sampler spread(model, {.recycling = {RecyclingKind::spread, 8}});
    Sampler moments(model, {.moments = true});
    steps = none.draw(draws);
    append(seconds, interleave({[&] { bare_loop(model, steps); }, [&] { none.draw(draws); },
                                [&] { spread.draw(draws); }, [&] { moments.draw(draws); }},
                               rounds));
  }
  const auto count = static_cast<double>(steps);
  rows.push_back({"bare_loop_leapfrogs_per_s",
                  median_over_rounds(seconds, [&](const auto& s) { return count / s[0]; }), "1/s",
                  ""});
  rows.push_back({"nuts_leapfrogs_per_s",
                  median_over_rounds(seconds, [&](const auto& s) { return count / s[1]; }), "1/s",
                  ""});
  rows.push_back({"nuts_over_bare_loop",
                  median_over_rounds(seconds, [](const auto& s) { return s[1] / s[0]; }), "ratio",
                  "<= 2.0"});
  rows.push_back({"spread8_overhead_normal",
                  median_over_rounds(seconds, [](const auto& s) { return s[2] / s[1] - 1; }),
                  "fraction", "<= 0.05"});
  rows.push_back({"moments_overhead_normal",
                  median_over_rounds(seconds, [](const auto& s) { return (s[3] - s[1]) / s[0]; }),
                  "fraction of the bare loop", "<= 0.50"});
  time_sharpening(rows, "sharpen_overhead_normal", model, {}, draws, "<= 2.0");
}

void time_logistic(std::vector<Row>& rows) {
  const LogisticRegression model(simulate_logistic_data({}));
  // A realistic step: trees end by turning, as in use.
  constexpr double step = 0.05;
  constexpr std::uint64_t draws = 60;
  std::vector<std::vector<double>> seconds;
  // The position in memory has as large an effect as what is measured here: more layouts.
  for (std::size_t layout = 0; layout < 4 * layouts; ++layout) {
    Sampler none(model, {.depth = 10, .step_size = step});
    Sampler spread(model,
                   {.recycling = {RecyclingKind::spread, 8}, .depth = 10, .step_size = step});
    Sampler moments(model, {.moments = true, .depth = 10, .step_size = step});
    append(seconds, interleave({[&] { none.draw(draws); }, [&] { spread.draw(draws); },
                                [&] { moments.draw(draws); }},
                               4 * rounds));
  }
  time_sharpening(rows, "sharpen_overhead_logistic", model, {.depth = 10, .step_size = step}, draws,
                  "<= 0.05");
  rows.push_back({"spread8_overhead_logistic",
                  median_over_rounds(seconds, [](const auto& s) { return s[1] / s[0] - 1; }),
                  "fraction", "<= 0.01"});
  rows.push_back({"moments_overhead_logistic",
                  median_over_rounds(seconds, [](const auto& s) { return s[2] / s[0] - 1; }),
                  "fraction", "<= 0.02"});
}

/// Time per leapfrog by dimension, with the default recycling, which shows that a million
/// dimensions fit in memory.
void time_dimensions(std::vector<Row>& rows) {
  for (int power = 1; power <= 6; ++power) {
    const auto dimension = static_cast<std::size_t>(std::pow(10, power));
    const std::vector<double> deviations(dimension, 1.0);
    Sampler sampler(DiagonalNormal(deviations), {.recycling = {RecyclingKind::spread, 8}});
    const std::uint64_t draws = std::max<std::uint64_t>(1, 200'000 / dimension);
    std::uint64_t steps = 0;
    const auto seconds = interleave({[&] { steps = sampler.draw(draws); }}, 5);
    const double nanoseconds = median_over_rounds(
        seconds, [&](const auto& s) { return 1e9 * s[0] / static_cast<double>(steps); });
    rows.push_back({fmt::format("ns_per_leapfrog_dim_1e{}", power), nanoseconds, "ns", ""});
    rows.push_back({fmt::format("ns_per_leapfrog_and_coordinate_dim_1e{}", power),
                    nanoseconds / static_cast<double>(dimension), "ns", ""});
  }
}

void write_json(const std::vector<Row>& rows, const std::string& path) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::format_to(std::back_inserter(text),
                   "  {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\"}}{}\n", rows[i].name,
                   rows[i].value, rows[i].unit, i + 1 < rows.size() ? "," : "");
  }
  text += "]\n";
  std::ofstream(path) << text;
}

struct Group {
  const char* name;
  void (*time)(std::vector<Row>&);
};
constexpr Group groups[] = {{"normal", time_normal},
                            {"logistic", time_logistic},
                            {"regressions", time_regressions},
                            {"dimensions", time_dimensions}};

/// What `words` ask for: --only=GROUP, and the file to write.
struct Request {
  std::string only;
  std::string path;
};

Request read_words(std::span<char*> words) {
  const std::string option = "--only=";
  Request request;
  for (const std::string word : words) {
    if (!word.starts_with(option)) {
      request.path = word;
      continue;
    }
    request.only = word.substr(option.size());
    std::string names;
    bool known = false;
    for (const Group& group : groups) {
      names += (names.empty() ? "" : ", ") + std::string(group.name);
      known = known || request.only == group.name;
    }
    if (!known) {
      throw ConfigError(fmt::format("--only: found '{}', expected one of {}", request.only, names));
    }
  }
  return request;
}

int run(int argc, char** argv) {
  const Request request = read_words(std::span(argv + 1, argv + argc));
  // As the command does.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);

  std::vector<Row> rows;
  for (const Group& group : groups) {
    if (request.only.empty() || request.only == group.name) group.time(rows);
  }
  fmt::print("processor: {}\n\n", processor_name());
  fmt::print("{:<42} {:>14}  {:<26} {}\n", "measured", "value", "unit", "required");
  for (const Row& row : rows) {
    fmt::print("{:<42} {:>14.5g}  {:<26} {}\n", row.name, row.value, row.unit, row.bar);
  }
  if (!request.path.empty()) {
    write_json(rows, request.path);
    fmt::print("\nWritten to {}.\n", request.path);
  }
  return 0;
}

}  // namespace
}  // namespace rehmc

int main(int count, char** words) { return rehmc::bench::run_program(rehmc::run, count, words); }
