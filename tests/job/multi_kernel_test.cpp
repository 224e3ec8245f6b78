// Kernels of users: two toy schemes, each one class and one line of registration, and all they get.
#include "rehmc/kernel/multi_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "models/log_exponential.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/job/create_folder.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/run/chain.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"
#include "tests/kernel/law_targets.hpp"
#include "tests/run/same_chain.hpp"
#include "tests/run/settings_sweep.hpp"

namespace rehmc::testing::multi_kernel_test {
namespace {

/// Tries around a point near the chain (Tjelmeland 2004): given that point, the chain's state and
/// its tries are exchangeable, so each weighs its density.
struct TriesToy {
  void transition(MultiStep& step) {
    std::vector<double> centre = moved(step, step.state(MultiStep::start).position);
    std::vector<double> density{std::exp(step.state(MultiStep::start).log_density)};
    step.weigh(MultiStep::start, step.state(MultiStep::start).log_density);
    for (int k = 0; k < 3; ++k) {
      const MultiStep::Place place = step.evaluate(moved(step, centre));
      step.weigh(place, equal_weights ? 0 : step.state(place).log_density);
      density.push_back(std::exp(step.state(place).log_density));
    }
    double left = step.random().uniform() * (density[0] + density[1] + density[2] + density[3]);
    MultiStep::Place place = 0;
    while (place < 3 && left >= density[place]) left -= density[place++];
    step.move_to(place);
  }

  static std::vector<double> moved(MultiStep& step, std::span<const double> from) {
    std::vector<double> to(from.begin(), from.end());
    for (double& entry : to) entry += step.tuning().step_size * step.random().normal();
    return to;
  }

  bool equal_weights = false;
};

/// Two independent proposals, a short and a long one, each with its own acceptance; the chain moves
/// by the one or the other. It remembers which, as a scheme may.
struct ProposalsToy {
  void transition(MultiStep& step) {
    const StateView start = step.state(MultiStep::start);
    last = !last;
    for (const double scale : {0.3, 1.0}) {
      std::vector<double> x(start.position.begin(), start.position.end());
      for (double& entry : x) entry += scale * step.tuning().step_size * step.random().normal();
      const MultiStep::Place place = step.evaluate(x);
      const double ratio =
          std::exp(step.state(place).log_density - step.state(MultiStep::start).log_density);
      step.propose(place, ratio);
      if ((scale == 1.0) == last && step.random().uniform() < ratio) step.move_to(place);
    }
  }
  template <class A>
  void archive(A& archive) {
    archive(last);
  }
  template <class A>
  void archive(A& archive) const {
    archive(last);
  }

  bool last = false;
};

// What a copy of the step is told would be lost, and the chain would stay where it is.
struct ByValue {
  void transition(MultiStep /*step*/) {}
};
static_assert(MultiKernel<TriesToy> && MultiKernel<ProposalsToy>);
static_assert(!MultiKernel<ByValue>);

const KernelKind tries_toy = register_multi_kernel("tries-toy", TriesToy{});
const KernelKind proposals_toy =
    register_multi_kernel("proposals-toy", ProposalsToy{}, MultiYield::proposals);
const KernelKind wrong_toy = register_multi_kernel("wrong-toy", TriesToy{.equal_weights = true});

std::vector<std::string> recyclings(KernelKind kind) {
  std::vector<std::string> all{"none", "all", "spread:2", "spread:7", "simple:3", "recursive:3"};
  if (traits(kind).accepts_each_step) all.insert(all.end(), {"accept-each", "stride:1"});
  return all;
}

KernelSettings settings_of(KernelKind kind, const std::string& recycle) {
  KernelSettings settings;
  settings.kind = kind;
  settings.recycling = parse_recycling(recycle);
  return settings;
}

/// The largest |z| of the chain's state, of all states and of the kept ones after three transitions
/// from exact draws.
std::vector<double> worst_z(const KernelSettings& settings, const LawTarget& target,
                            std::uint32_t chain) {
  const Observables& observables = target.observables;
  const auto expectations = observables.expectations();
  const auto kernel = make_kernel(target.density, settings);
  kernel->use_features(&observables);
  const Tuning tuning{1.5, make_unit_metric(target.density.dimension())};
  ZScores plain(observables.size());
  ZScores all(observables.size());
  ZScores kept(observables.size());
  std::vector<double> x(target.density.dimension());
  const auto deviation = [&](std::vector<double>& sums, std::span<const double> values) {
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += values[j] - expectations[j];
  };
  for (std::uint64_t r = 0; r < fewer_replicates; ++r) {
    Stream stream({seed, chain, r}, Purpose::test);
    target.sample(stream, x);
    kernel->set_position(x);
    std::vector<double> of_all(observables.size());
    std::vector<double> of_kept(observables.size());
    for (std::uint64_t t = 0; t < transitions; ++t) {
      const Transition& transition = kernel->transition(tuning, {seed, chain, transitions * r + t});
      deviation(of_all, transition.feature_means.all);
      std::vector<double> values(observables.size());
      for (const WeightedState& state : transition.recycled) {
        observables.add(state.weight, state.state, values);
      }
      deviation(of_kept, values);
    }
    std::vector<double> end(observables.size());
    observables.add(1, kernel->state(), end);
    std::vector<double> of_end(observables.size());
    deviation(of_end, end);
    plain.add(of_end);
    all.add(of_all);
    kept.add(of_kept);
  }
  return {std::abs(plain.z(plain.worst())), std::abs(all.z(all.worst())),
          std::abs(kept.z(kept.worst()))};
}

/// Any test here fails with probability 1e-4 if all is well: 14 recyclers on two targets with 22
/// and 15 observables, each with 3 laws.
const double z_limit = -normal_quantile(1e-4 / 2 / (14 * 3 * (22 + 15)));

/// Skewed coordinates, and half normal ones: there is no density beyond their walls, or it is not a
/// number.
TEST(MultiKernel, LeavesTheTargetInvariantWithEveryRecycler) {
  std::uint32_t chain = 200'000;
  for (const std::size_t target : {log_exponential, half_normal}) {
    for (const KernelKind kind : {tries_toy, proposals_toy}) {
      for (const std::string& recycle : recyclings(kind)) {
        SCOPED_TRACE(std::string(describe(kind)) + ", " + recycle + ", " +
                     law_targets()[target].name);
        for (const double z : worst_z(settings_of(kind, recycle), law_targets()[target], ++chain)) {
          EXPECT_LT(z, z_limit);
        }
      }
    }
  }
}

// The control: tries that weigh the same, whatever their density.
TEST(MultiKernel, RejectsWrongWeights) {
  const std::vector<double> z =
      worst_z(settings_of(wrong_toy, "spread:2"), law_targets()[log_exponential], 300'000);
  EXPECT_LT(z[0], z_limit);
  EXPECT_GT(z[1], 2 * z_limit);
  EXPECT_GT(z[2], 2 * z_limit);
}

SampleSettings short_run(KernelKind kind, const std::string& recycle) {
  SampleSettings settings;
  settings.kernel = settings_of(kind, recycle);
  settings.chains = 3;
  settings.draws = 200;
  settings.warmup.iterations = 150;
  settings.warmup.adapt_step_size.target_acceptance = 0.5;
  settings.seed = 5;
  return settings;
}

TEST(MultiKernel, HasWarmupErrorBarsAndSharpening) {
  for (const KernelKind kind : {tries_toy, proposals_toy}) {
    SampleSettings settings = short_run(kind, "spread:3");
    settings.draws = 5000;
    const SampleResult result = sample(LogExponential(2), settings);
    auto rows = summarise(result);
    EXPECT_EQ(sharpen_run(result, rows).refused, "");
    ASSERT_EQ(rows.size(), 2U);
    for (const auto& row : rows) {
      ASSERT_TRUE(row.recycled.has_value());
      EXPECT_GT(row.recycled->ess_mean, 0);
      EXPECT_GT(row.recycled->mcse_sd, 0);
      EXPECT_FALSE(row.recycled->quantiles.empty());
      EXPECT_TRUE(row.sharpened.has_value()) << row.not_sharpened;
    }
    EXPECT_GE(result.chains[0].gradients_sampling, 2 * 5000U);
  }
}

TEST(MultiKernel, IsTheSameInBatches) {
  SampleSettings settings = short_run(proposals_toy, "accept-each");
  const SampleResult threads = sample(LogExponential(2), settings);
  settings.engine = EngineKind::batch;
  const SampleResult batch = sample(LogExponential(2), settings);
  for (std::size_t c = 0; c < threads.chains.size(); ++c) {
    expect_same_chain(threads.chains[c], batch.chains[c]);
  }
}

TEST(MultiKernel, ContinuesFromAnyIteration) {
  SampleSettings settings = short_run(proposals_toy, "spread:2");
  settings.warmup.schedule = WarmupSchedule::stan;  // where a chain is warm by itself
  const Density density = LogExponential(2);
  const Address address{3, 1, 0};
  Chain straight(density, settings, address);
  auto stored = std::make_unique<Chain>(density, settings, address);
  for (int i = 0; i < 250; ++i) {
    ArchiveWriter writer;
    writer(*stored);
    ArchiveReader reader(writer.bytes());
    stored = std::make_unique<Chain>(density, settings, address, reader);
    if (straight.warm()) {
      straight.begin_sampling();
      stored->begin_sampling();
    }
    const Transition& expected = straight.step();
    const Transition& found = stored->step();
    ASSERT_TRUE(std::ranges::equal(expected.state.position, found.state.position)) << i;
    ASSERT_EQ(expected.recycled.size(), found.recycled.size());
  }
}

/// A run that keeps its output in a folder: interrupted after `stop_at` draws, and resumed.
SampleResult run_in_folder(bool store_draws, bool interrupted, Manifest& manifest) {
  const Density density = LogExponential(2);
  manifest.version = version();
  manifest.created = utc_now();
  manifest.model = {"log-exponential", "none"};
  manifest.quantities = density.quantities();
  manifest.coordinates = density.names();
  manifest.seed = 5;
  manifest.settings.sample = short_run(proposals_toy, "spread:2");
  manifest.settings.store_draws = store_draws;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("multi-kernel-" + std::to_string(store_draws) + std::to_string(interrupted));
  std::filesystem::remove_all(path);
  const RunFolder folder(path);
  const RunLock lock = create_run_folder(folder, false);
  write_manifest(folder, manifest);
  std::atomic<int> interrupts = 0;
  if (interrupted) {
    Manifest first = manifest;
    first.settings.sample.draws = 80;
    Job(density, first, folder).run(interrupts);
    manifest = read_manifest(folder);  // the name of the kernel is found again
  }
  Job job(density, manifest, folder);
  job.run(interrupts);
  EXPECT_TRUE(job.complete());
  SampleResult result = std::move(job).take_result();
  std::filesystem::remove_all(path);
  return result;
}

TEST(MultiKernel, RunsInFoldersAndResumes) {
  Manifest manifest;
  const SampleResult straight = run_in_folder(true, false, manifest);
  const SampleResult resumed = run_in_folder(true, true, manifest);
  EXPECT_EQ(manifest.settings.sample.kernel.kind, proposals_toy);
  for (std::size_t c = 0; c < straight.chains.size(); ++c) {
    expect_same_chain(straight.chains[c], resumed.chains[c]);
    EXPECT_EQ(straight.chains[c].record.kept, resumed.chains[c].record.kept);
  }
  const SampleResult running = run_in_folder(false, false, manifest);
  EXPECT_EQ(running.chains[0].gradients_sampling, straight.chains[0].gradients_sampling);
}

/// Misuses the step in the way that its number says.
struct BadToy {
  void transition(MultiStep& step) {
    const auto place = step.evaluate(std::vector<double>(2, 0.5));
    if (mistake == 0) step.move_to(place + 1);
    if (mistake == 1) step.weigh(place, std::nan(""));
    if (mistake == 2) {
      step.propose(place, 1);
      step.weigh(place, 0);
    }
    if (mistake == 3) step.evaluate(std::vector<double>(3, 0.5));
    if (mistake == 4) step.weigh(step.evaluate(std::vector<double>(2, 1e6)), 0);
  }
  int mistake = 0;
};

/// No density beyond 1000.
double walled(std::span<const double> x, std::span<double> gradient) {
  for (double& entry : gradient) entry = 0;
  return x[0] > 1000 ? -INFINITY : 0;
}

TEST(MultiKernel, MistakesOfASchemeAreNamed) {
  const char* expected[] = {"place 2", "nan", "both weights and proposals", "3 coordinates",
                            "no density"};
  for (int mistake = 0; mistake < 5; ++mistake) {
    KernelSettings settings = settings_of(tries_toy, "all");
    const auto kernel = make_multi_kernel(std::make_unique<ErasedScheme<BadToy>>(BadToy{mistake}),
                                          FunctionDensity(2, walled), settings);
    kernel->set_position(std::vector<double>(2, 0.0));
    const std::string message = message_of<ConfigError>([&] {
      kernel->transition({1, make_unit_metric(2)}, Address{});
    });
    EXPECT_TRUE(mentions(message, expected[mistake])) << message;
  }
}

TEST(MultiKernel, NamesAreUniqueAndPlain) {
  for (const char* name : {"", "Upper", "with space", "tries-toy", "nuts"}) {
    EXPECT_THROW(register_multi_kernel(name, TriesToy{}), ConfigError) << name;
  }
  EXPECT_EQ(parse_kernel("tries-toy"), tries_toy);
  EXPECT_TRUE(mentions(kernel_names(), "proposals-toy"));
  EXPECT_TRUE(mentions(message_of<ConfigError>([] {
                         make_kernel(LogExponential(2), settings_of(tries_toy, "accept-each"));
                       }),
                       "accept-each"));
}

}  // namespace
}  // namespace rehmc::testing::multi_kernel_test
