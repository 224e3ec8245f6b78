// Simulation-based calibration of kernels, recyclers and metrics.
//
// Call: sbc REPLICATES SEED THREADS EVERY.
//
// Talts et al. (2018), "Validating Bayesian inference algorithms with simulation-based
// calibration": with parameters from the prior and data simulated at them, the rank of a parameter
// among independent draws of its posterior is uniform. The log likelihood is ranked as well,
// because a sampler that ignores the data passes for parameters alone (Modrak et al. 2023). The
// draws are every tenth iteration's: one of its recycled states, drawn by its weight. Pooled
// recycled states would not do, because those of one trajectory depend on each other.
//
// Of the combinations, only each EVERY-th is tested. Prints one line for each: model, kernel,
// recycler, metric, control or valid, and for each quantity the chi-square of its ranks in `bins`
// bins.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "models.hpp"
#include "rehmc/recycle/recycling.hpp"
#include "rehmc/run/chain.hpp"

namespace rehmc::sbc {
namespace {

constexpr int warmup_iterations = 250;
constexpr int draws_to_rank = 31;
constexpr int thin = 10;
constexpr std::size_t bins = 8;  // of draws_to_rank + 1 ranks

/// How to take one of the recycled states of a transition.
enum class Take {
  by_weight,  ///< as it must be
  alike,      ///< control: weights ignored
  moved,      ///< control: never the start of the trajectory
};

struct Combination {
  std::string_view model;
  std::string_view kernel;
  std::string_view recycle;
  std::string_view metric;
  Take take = Take::by_weight;
};

MetricKind metric_kind(std::string_view name) {
  if (name == "unit") return MetricKind::unit;
  return name == "dense" ? MetricKind::dense : MetricKind::diagonal;
}

SampleSettings settings_of(const Combination& combination) {
  SampleSettings settings;
  settings.chains = 1;
  const bool persistent = combination.kernel == "hmc-persistent";
  settings.kernel.kind = parse_kernel(persistent ? "hmc" : combination.kernel);
  settings.kernel.hmc.momentum_kept = persistent ? 0.5 : 0;
  settings.kernel.recycling = parse_recycling(combination.recycle);
  settings.warmup.schedule = WarmupSchedule::stan;  // chains that do not wait for others
  settings.warmup.iterations = warmup_iterations;
  settings.warmup.metric = metric_kind(combination.metric);
  // Coarse steps, so that weights matter.
  settings.warmup.adapt_step_size.target_acceptance = 0.65;
  settings.kernel.hmc.jitter_least = 0.5;
  settings.kernel.hmc.jitter_most = 1.5;
  return settings;
}

std::span<const double> take_state(const Transition& transition, Take take,
                                   std::span<const double> start, Stream& stream) {
  if (transition.recycled.empty()) return transition.state.position;
  std::vector<double> weights;
  for (const WeightedState& each : transition.recycled) {
    const bool at_start = std::ranges::equal(each.state.position, start);
    const double weight = take == Take::alike ? 1 : each.weight;
    weights.push_back(take == Take::moved && at_start ? 0 : weight);
  }
  double total = 0;
  for (const double weight : weights) total += weight;
  if (total == 0) return start;
  double left = stream.uniform() * total;
  std::size_t taken = 0;
  while (taken + 1 < weights.size() && left >= weights[taken]) left -= weights[taken++];
  return transition.recycled[taken].state.position;
}

/// The ranks of all parameters and of the log likelihood in one simulated data set.
template <class Model>
std::array<int, Model::parameters + 1> ranks_of(const Combination& combination,
                                                std::uint64_t seed) {
  Stream truth_stream({seed, 0, 0}, Purpose::test);
  std::array<double, Model::parameters> truth{};
  Model::draw_prior(truth_stream, truth);
  const Model model(truth_stream, truth);
  const double likelihood = model.log_likelihood(truth);
  Chain chain(Density(model), settings_of(combination), {seed, 1, 0});
  while (!chain.warm()) chain.step();
  chain.begin_sampling();
  std::array<int, Model::parameters + 1> ranks{};
  std::vector<double> start;
  for (int draw = 1; draw <= draws_to_rank * thin; ++draw) {
    const auto before = chain.state().position;
    start.assign(before.begin(), before.end());
    const Transition& transition = chain.step();
    if (draw % thin != 0) continue;
    Stream stream({seed, 2, static_cast<std::uint64_t>(draw)}, Purpose::test);
    const auto x = take_state(transition, combination.take, start, stream);
    for (std::size_t i = 0; i < truth.size(); ++i) ranks[i] += x[i] < truth[i] ? 1 : 0;
    ranks.back() += model.log_likelihood(x) < likelihood ? 1 : 0;
  }
  return ranks;
}

template <class Model>
std::string test(const Combination& combination, std::uint64_t seed, int replicates) {
  std::array<std::array<int, bins>, Model::parameters + 1> counts{};
  for (int replicate = 0; replicate < replicates; ++replicate) {
    const auto ranks = ranks_of<Model>(combination, seed + static_cast<std::uint64_t>(replicate));
    for (std::size_t q = 0; q < ranks.size(); ++q) {
      ++counts[q][static_cast<std::size_t>(ranks[q]) * bins / (draws_to_rank + 1)];
    }
  }
  const double expected = static_cast<double>(replicates) / bins;
  std::string line;
  for (const auto& of_quantity : counts) {
    double chi_square = 0;
    for (const int count : of_quantity)
      chi_square += (count - expected) * (count - expected) / expected;
    line += " " + std::to_string(chi_square);
  }
  return line;
}

std::vector<Combination> all_combinations() {
  std::vector<Combination> all;
  const auto add = [&](std::string_view kernel, std::string_view recycle, std::string_view metric,
                       Take take) {
    for (const std::string_view model : {MeanAndScale::name, Logistic::name, Hierarchy::name}) {
      all.push_back({model, kernel, recycle, metric, take});
    }
  };
  // Controls first, because a slice needs them.
  add("nuts", "all", "diag", Take::alike);
  add("hmc", "all", "diag", Take::moved);
  for (const std::string_view kernel :
       {"nuts", "nuts-slice", "hmc", "hmc-persistent", "symmetric", "windows"}) {
    for (const std::string_view recycle :
         {"none", "all", "spread:4", "simple:4", "recursive:4", "accept-each", "stride:3"}) {
      if (!kernel.starts_with("hmc") && (recycle == "accept-each" || recycle == "stride:3")) {
        continue;
      }
      for (const std::string_view metric : {"diag", "dense", "unit"}) {
        add(kernel, recycle, metric, Take::by_weight);
      }
    }
  }
  return all;
}

std::string test(const Combination& combination, std::uint64_t seed, int replicates) {
  if (combination.model == Logistic::name) return test<Logistic>(combination, seed, replicates);
  if (combination.model == Hierarchy::name) return test<Hierarchy>(combination, seed, replicates);
  return test<MeanAndScale>(combination, seed, replicates);
}

/// Every combination has its own seeds, so that tests are independent.
void run(int replicates, std::uint64_t seed, unsigned threads, std::size_t every) {
  const std::vector<Combination> all = all_combinations();
  std::vector<std::string> lines(all.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t c = next++; c < all.size(); c = next++) {
      const bool control = all[c].take != Take::by_weight;
      if (!control && c % every != seed % every) continue;
      lines[c] = test(all[c], seed * 1'000'000'000 + c * 1'000'000, replicates);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back(work);
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (lines[c].empty()) continue;
    const std::string_view what = all[c].take == Take::by_weight ? "valid" : "control";
    std::printf("%s %s %s %s %s%s\n", all[c].model.data(), all[c].kernel.data(),
                all[c].recycle.data(), all[c].metric.data(), what.data(), lines[c].c_str());
  }
}

}  // namespace
}  // namespace rehmc::sbc

int main(int count, char** words) {
  if (count != 5) return 64;
  rehmc::sbc::run(std::atoi(words[1]), std::strtoull(words[2], nullptr, 10),
                  static_cast<unsigned>(std::atoi(words[3])),
                  static_cast<std::size_t>(std::atoi(words[4])));
  return 0;
}
