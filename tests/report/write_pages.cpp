// Writes the pages for the browser test: good, divergent, wide and degenerate runs.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "models/banana.hpp"
#include "models/eight_schools.hpp"
#include "models/funnel.hpp"
#include "models/log_exponential.hpp"
#include "models/standard_normal.hpp"
#include "rehmc/report/report.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace {

using namespace rehmc;

/// A leapfrog path from a position, with made-up fates: the last quarter is dropped, two of three
/// other states are kept.
TracedTrajectory trace(Density density, std::vector<double> position, double step, int steps) {
  const std::size_t d = position.size();
  std::vector<double> gradient(d);
  std::vector<double> momentum(d);
  for (std::size_t i = 0; i < d; ++i) momentum[i] = i % 2 == 0 ? 1.1 : 0.5;
  TracedTrajectory trajectory;
  trajectory.start = static_cast<std::size_t>(steps) / 3;
  density(position, gradient);
  for (int i = 0; i < steps; ++i) {
    TracedState& state = trajectory.states.emplace_back();
    state.x = position[0];
    state.y = d > 1 ? position[1] : 0;
    state.dropped = i >= 3 * steps / 4;
    state.weight = state.dropped ? 0 : 4.0 / (3 * steps);
    state.slots = state.dropped || i % 3 == 1 ? 0 : 1 + i % 2;
    state.selected = i == steps / 2;
    for (std::size_t k = 0; k < d; ++k) momentum[k] += 0.5 * step * gradient[k];
    for (std::size_t k = 0; k < d; ++k) position[k] += step * momentum[k];
    density(position, gradient);
    for (std::size_t k = 0; k < d; ++k) momentum[k] += 0.5 * step * gradient[k];
  }
  return trajectory;
}

ReportInfo info_of(const std::string& title) {
  ReportInfo info;
  info.title = title;
  info.version = "0.1.0";
  info.date = "2026-01-31 12:00:00 UTC";
  info.command = "rehmc sample " + title + " --seed 20";
  info.settings = {{"target-accept", "0.9", "0.8", true},
                   {"warmup-schedule", "stan", "pooled", true},
                   {"chains", "4", "4"},
                   {"max-depth", "10", "10"},
                   {"until", "", ""}};
  return info;
}

void write(const std::filesystem::path& folder, const SampleResult& result, ReportInfo info,
           const std::string& file) {
  std::ofstream(folder / (file + ".html")) << report_page(result, summarise_run(result), info);
}

SampleSettings settings_of(const char* recycling) {
  SampleSettings settings;
  settings.seed = 20;
  settings.kernel.recycling = parse_recycling(recycling);
  return settings;
}

/// Pages with a trajectory.
void write_ordinary(const std::filesystem::path& folder) {
  ReportInfo info = info_of("eight-schools");
  info.trajectory = trace(EightSchoolsNonCentred{}, std::vector<double>(10, 0.3), 0.25, 32);
  SampleSettings settings = settings_of("spread:8");
  settings.warmup.schedule = WarmupSchedule::stan;
  settings.warmup.adapt_step_size.target_acceptance = 0.9;
  SampleResult result = sample(EightSchoolsNonCentred{}, settings);
  for (ChainResult& chain : result.chains) {
    chain.seconds_warmup = 0.031;
    chain.seconds_sampling = 0.024;
  }
  write(folder, result, info, "eight-schools");

  info = info_of("funnel");
  info.trajectory = trace(Funnel(10), std::vector<double>(10, 0.4), 0.2, 60);
  settings = settings_of("spread:8");
  // At 0.8 a chain of every third seed is stuck in the neck, and the page has no errors to compare.
  settings.warmup.adapt_step_size.target_acceptance = 0.99;
  write(folder, sample(Funnel(10), settings), info, "funnel");

  info = info_of("banana");
  info.trajectory = trace(Banana{}, {0.4, 0.6}, 0.12, 40);
  result = sample(Banana{}, settings_of("all"));
  // Make sure that there are divergences.
  for (std::size_t i = 0; i < 5; ++i)
    result.chains[i % 4].record.ending[150 * i] = Ending::diverged;
  write(folder, result, info, "banana");
}

/// Pages with little, much, or awkward names.
void write_extreme(const std::filesystem::path& folder) {
  SampleSettings settings = settings_of("none");
  settings.chains = 1;
  write(folder, sample(StandardNormal(1), settings), info_of("one chain, one parameter"), "single");

  settings = settings_of("spread:2");
  settings.draws = 2;
  SampleResult result = sample(StandardNormal(3), settings);
  result.names = {"<b>bold</b>", "</script><script>alert(1)</script>", "a & \"b\" <!-- c"};
  write(folder, result, info_of("</title><i>short & \"odd\"</i>"), "odd");

  settings = settings_of("spread:4");
  settings.chains = 15;
  settings.draws = settings.warmup.iterations = 200;
  result = sample(LogExponential(300), settings);
  // A chain that never moved has no Monte Carlo error.
  for (std::size_t i = 0; i < 200; ++i) result.chains[1].record.draws[i * 300 + 4] = 7;
  write(folder, result, info_of("wide"), "wide");
}

/// Pages of runs that lack something.
void write_incomplete(const std::filesystem::path& folder) {
  // A run written by another program.
  SampleResult result = sample(StandardNormal(2), settings_of("none"));
  for (ChainResult& chain : result.chains) {
    chain.record.energy.clear();
    chain.record.mean_offset.clear();
    chain.record.kept.clear();
    chain.record.kept_weight.clear();
    chain.record.kept_end.clear();
    chain.record.gradients = KeptGradients::no;
    chain.spot_check = {};
  }
  write(folder, result, {}, "foreign");

  // A run that kept only its summary, and one with nothing at all.
  RunSummary summary = summarise_run(result);
  for (ChainResult& chain : result.chains) chain.record = {};
  std::ofstream(folder / "no-draws.html") << report_page(result, summary, info_of("no-draws"));
  std::ofstream(folder / "empty.html") << report_page({}, {}, {});

  // A discontinuous density: its gradient is right where it exists, but Stein's identity fails.
  FunctionDensity jumping(2, [](std::span<const double> x, std::span<double> gradient) {
    for (std::size_t i = 0; i < 2; ++i) gradient[i] = -x[i];
    const double value = -(x[0] * x[0] + x[1] * x[1]) / 2;
    return x[0] > 0.5 ? -std::numeric_limits<double>::infinity() : value;
  });
  write(folder, sample(jumping, settings_of("spread:8")), info_of("truncated"), "truncated");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: report_pages FOLDER\n", stderr);
    return 64;
  }
  write_ordinary(arguments[1]);
  write_extreme(arguments[1]);
  write_incomplete(arguments[1]);
}
