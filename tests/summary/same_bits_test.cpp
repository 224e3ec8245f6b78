// Every kernel, metric and model has the same draws and summaries with all instructions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/registry.hpp"
#include "rehmc/kernel/kernel_table.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"
#include "tests/core/every_instructions.hpp"

namespace rehmc::same_bits_test {
namespace {

void append(std::vector<double>& numbers, const Estimate& estimate) {
  numbers.insert(numbers.end(), {estimate.mean, estimate.mcse_mean, estimate.sd, estimate.mcse_sd});
  for (const QuantileEstimate& quantile : estimate.quantiles) {
    numbers.insert(numbers.end(), {quantile.value, quantile.mcse});
  }
}

/// Everything that a run has of one chain, and its summary.
std::vector<double> run(const Density& density, const SampleSettings& settings) {
  const SampleResult result = sample(density, settings);
  std::vector<double> numbers;
  for (const ChainResult& chain : result.chains) {
    const auto add = [&](const auto& values) {
      numbers.insert(numbers.end(), values.begin(), values.end());
    };
    add(chain.record.draws);
    add(chain.record.log_density);
    add(chain.record.energy);
    add(chain.record.kept);
    add(chain.record.kept_weight);
    add(chain.record.mean_offset);
    add(chain.record.mean_square);
    add(chain.tuning.metric->numbers());
  }
  std::vector<ParameterSummary> parameters = summarise(result);
  sharpen_run(result, parameters);
  for (const ParameterSummary& parameter : parameters) {
    append(numbers, parameter.plain);
    numbers.insert(numbers.end(), {parameter.convergence.rhat, parameter.convergence.ess_bulk});
    if (parameter.recycled) append(numbers, *parameter.recycled);
    if (parameter.sharpened) append(numbers, parameter.sharpened->estimate);
  }
  return numbers;
}

SampleSettings short_run() {
  SampleSettings settings;
  settings.seed = 7;
  settings.chains = 2;
  settings.draws = 210;
  settings.threads = 1;
  settings.warmup.iterations = 100;
  settings.kernel.recycling = {RecyclingKind::spread, 4};
  return settings;
}

TEST(SameBits, EveryKernel) {
  const Density density = make_model("student-t", R"({"dimension": 30})", "").density;
  for (int kind = 0; kind <= static_cast<int>(greatest(KernelKind{})); ++kind) {
    SampleSettings settings = short_run();
    settings.kernel.kind = static_cast<KernelKind>(kind);
    EXPECT_TRUE(testing::same_bits([&] { return run(density, settings); }))
        << describe(settings.kernel.kind);
  }
}

TEST(SameBits, EveryMetric) {
  const Density density = make_model("student-t", R"({"dimension": 30})", "").density;
  for (const MetricKind kind :
       {MetricKind::unit, MetricKind::diagonal, MetricKind::dense, MetricKind::low_rank}) {
    SampleSettings settings = short_run();
    settings.warmup.metric = kind;
    EXPECT_TRUE(testing::same_bits([&] { return run(density, settings); })) << describe(kind);
  }
}

TEST(SameBits, EveryModel) {
  for (const ModelInfo& info : built_in_models()) {
    const Density density = make_model(info.name, "", "").density;
    SampleSettings settings = short_run();
    // What gradients and trajectories sum; how summaries sum is tested above.
    settings.draws = density.dimension() > 300 ? 2 : 30;
    settings.warmup.iterations = 10;
    settings.kernel.nuts.max_depth = 4;
    EXPECT_TRUE(testing::same_bits([&] { return run(density, settings); })) << info.name;
  }
}

TEST(SameBits, ManyCoordinates) {
  const Density density = make_model("diagonal-normal", R"({"dimension": 250})", "").density;
  SampleSettings settings = short_run();
  settings.kernel.nuts.max_depth = 4;
  EXPECT_TRUE(testing::same_bits([&] { return run(density, settings); }));
}

}  // namespace
}  // namespace rehmc::same_bits_test
