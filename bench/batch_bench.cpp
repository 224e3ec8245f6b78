// The batch engine against threads: time per leapfrog step and chain, and the share of peak speed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/peak_loops.hpp"
#include "interleave.hpp"
#include "models/aligned_vector.hpp"
#include "models/cox_process.hpp"
#include "models/diagonal_normal.hpp"
#include "models/hierarchical_logistic.hpp"
#include "models/stochastic_volatility.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/processor.hpp"
#include "rehmc/core/variants.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/run/engine.hpp"
#include "run_program.hpp"

namespace rehmc {
namespace {

using bench::interleave;
using bench::median_over_rounds;

constexpr std::size_t rounds = 7;
/// A step so small that no tree turns: every draw is a full tree of 15 steps.
constexpr double tiny_step = 1e-4;
constexpr int depth = 4;
constexpr std::uint64_t steps_per_draw = (1U << depth) - 1;

/// NUTS with this many chains on one core, with the unit metric.
class Chains {
 public:
  Chains(const Density& density, EngineKind kind, std::size_t chains, std::size_t batch)
      : engine_(density, {kind, chains, 1, batch}),
        tuning_{tiny_step, make_unit_metric(density.dimension())} {
    KernelSettings settings;
    settings.nuts.max_depth = depth;
    settings.recycling = {RecyclingKind::spread, 8};
    const std::vector<double> start(density.dimension(), 0.1);
    for (std::size_t c = 0; c < chains; ++c) {
      kernels_.push_back(make_kernel(engine_.density(c), settings));
      kernels_.back()->set_position(start);
    }
  }

  void draw(std::uint64_t draws) {
    std::atomic<bool> failed = false;
    engine_.run(failed, [&](std::size_t chain) {
      for (std::uint64_t i = 0; i < draws; ++i) {
        const Address address{1, static_cast<std::uint32_t>(chain), iteration_ + i};
        benchmark::DoNotOptimize(kernels_[chain]->transition(tuning_, address).recycled.data());
      }
    });
    iteration_ += draws;
  }

 private:
  Engine engine_;
  Tuning tuning_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::uint64_t iteration_ = 0;
};

struct Target {
  std::string name;
  Density density;
  double flops;  ///< of the products in one gradient
  std::uint64_t draws;
};

/// Additions and multiplications a second, all in registers.
double measure_peak() {
  constexpr std::size_t turns = 20'000'000;
  const PeakLoop loop = REHMC_VARIANT_IN_USE(peak_loop)();
  const auto run = [&] { benchmark::DoNotOptimize(loop.run(turns)); };
  const double seconds =
      median_over_rounds(interleave({run}, 5), [](const auto& s) { return s[0]; });
  return static_cast<double>(turns * loop.flops) / seconds;
}

/// Bytes a second that one core reads from memory.
double measure_bandwidth() {
  const AlignedVector memory(std::size_t{1} << 25);
  double total = 0;
  const auto run = [&] {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < memory.size(); ++i) sum += memory.data()[i];
    total += sum;
  };
  const double seconds =
      median_over_rounds(interleave({run}, 5), [](const auto& s) { return s[0]; });
  benchmark::DoNotOptimize(total);
  return static_cast<double>(memory.size() * sizeof(double)) / seconds;
}

void time_target(const Target& target, double peak) {
  std::vector<std::function<void()>> arms;
  std::vector<std::size_t> chains{8};
  if (target.density.is_batched()) chains.insert(chains.end(), {8, 32, 64});
  std::vector<std::unique_ptr<Chains>> all;
  for (std::size_t arm = 0; arm < chains.size(); ++arm) {
    all.push_back(std::make_unique<Chains>(target.density,
                                           arm == 0 ? EngineKind::threads : EngineKind::batch,
                                           chains[arm], chains[arm]));
    arms.emplace_back([&, arm] { all[arm]->draw(target.draws); });
  }
  const auto seconds = interleave(arms, rounds);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const double per_step = static_cast<double>(target.draws * steps_per_draw * chains[arm]);
    const double microseconds =
        median_over_rounds(seconds, [&](const auto& s) { return 1e6 * s[arm] / per_step; });
    const double gain = median_over_rounds(seconds, [&](const auto& s) {
      return s[0] / static_cast<double>(chains[0]) / (s[arm] / static_cast<double>(chains[arm]));
    });
    const std::string share = chains.size() == 1
                                  ? "no batched call: lanes are filled by coordinates already"
                                  : fmt::format("{:.0f}% of the most FLOP/s",
                                                100 * target.flops / (1e-6 * microseconds) / peak);
    fmt::print("{:<24} {:<10} {:>12.2f} {:>8.2f}  {}\n", target.name,
               arm == 0 ? "threads" : fmt::format("batch {}", chains[arm]), microseconds, gain,
               share);
  }
}

DiagonalNormal wishart_normal() {
  std::vector<double> deviations =
      wishart_eigenvalues({.dimension = 250, .degrees_of_freedom = 250, .seed = 1});
  for (double& value : deviations) value = std::sqrt(value);
  return DiagonalNormal(deviations);
}

int run(int /*count*/, char** /*words*/) {
  const double peak = measure_peak();
  fmt::print("one core: {:.1f} GFLOP/s at most, {:.1f} GB/s from memory\n\n", 1e-9 * peak,
             1e-9 * measure_bandwidth());
  fmt::print("processor: {}\n\n", processor_name());
  fmt::print("{:<24} {:<10} {:>12} {:>8}\n", "NUTS, unit metric", "engine", "us per step", "gain");
  const std::vector<std::uint64_t> counts = simulate_cox_counts({}, 1);
  const LogisticData data = with_interactions(simulate_attributes({}));
  const auto entries = static_cast<double>(data.observations * data.predictors);
  constexpr double quarter = 1024;  // rows of each of the four blocks, whose triangles count twice
  constexpr double cox = 2 * 4 * quarter * quarter;
  const std::vector<Target> targets{
      {"normal, d = 250", wishart_normal(), 0, 100},
      {"hierarchical logistic", HierarchicalLogistic(data), 4 * entries, 4},
      {"stochastic volatility", StochasticVolatility(simulate_returns({})), 0, 20},
      {"Cox process", CoxProcess({}, counts), cox, 1},
      {"Cox process, whitened", WhitenedCoxProcess({}, counts), cox, 1},
  };
  for (const Target& target : targets) time_target(target, peak);
  return 0;
}

}  // namespace
}  // namespace rehmc

int main(int count, char** words) { return rehmc::bench::run_program(rehmc::run, count, words); }
