// Chains in warmup hold many states: a run in a folder has few of them at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <vector>

#include "models/diagonal_normal.hpp"
#include "rehmc/job/job.hpp"

namespace rehmc::many_chains_test {
namespace {

/// The most chains that were under way at any evaluation of the density.
struct Watch {
  const Progress* progress = nullptr;
  std::ptrdiff_t most = 0;

  void look() {
    if (progress == nullptr) return;
    most = std::max(most, std::ranges::count_if(progress->chains, [&](const ChainProgress& chain) {
                      return chain.begun && chain.iteration < chain.warmup + progress->draws;
                    }));
  }
};

Manifest manifest_of(const Density& density, WarmupSchedule schedule) {
  Manifest manifest;
  manifest.version = version();
  manifest.created = utc_now();
  manifest.model = {"normal", "none"};
  manifest.quantities = density.quantities();
  manifest.coordinates = density.names();
  manifest.seed = 5;
  SampleSettings& sample = manifest.settings.sample;
  sample.chains = 40;
  sample.draws = 10;
  sample.threads = 1;
  sample.warmup.iterations = 100;
  sample.warmup.schedule = schedule;
  return manifest;
}

std::ptrdiff_t most_chains_at_once(WarmupSchedule schedule) {
  Watch watch;
  const DiagonalNormal normal(std::vector<double>{1, 2});
  const Density density(FunctionDensity(2, [&watch, normal](auto x, auto gradient) mutable {
    watch.look();
    return normal(x, gradient);
  }));
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "many-chains";
  std::filesystem::remove_all(path);
  const RunFolder folder(path);
  const RunLock lock = create_run_folder(folder, false);
  const Manifest manifest = manifest_of(density, schedule);
  write_manifest(folder, manifest);
  Job job(density, manifest, folder);
  watch.progress = &job.progress();
  const std::atomic<int> interrupts = 0;
  job.run(interrupts);
  EXPECT_TRUE(job.complete());
  std::filesystem::remove_all(path);
  return watch.most;
}

TEST(ManyChains, WarmUpOneGroupAfterTheOther) {
  EXPECT_EQ(most_chains_at_once(WarmupSchedule::pooled), 16);
  // Chains that learn alone need not wait for each other: a control of the count.
  EXPECT_EQ(most_chains_at_once(WarmupSchedule::stan), 1);
}

}  // namespace
}  // namespace rehmc::many_chains_test
