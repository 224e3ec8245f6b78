// Samples the eight-schools model and prints its summary with and without recycling.
#include "models/eight_schools.hpp"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/summary.hpp"

namespace {

void print_row(const std::string& name, const char* kind, const rehmc::Estimate& estimate) {
  const auto quantile = [&](double probability) {
    for (const auto& q : estimate.quantiles) {
      if (q.probability == probability) return q;
    }
    return rehmc::QuantileEstimate{};
  };
  std::printf("%-14s %-9s %8.3f %8.4f %7.0f %8.3f %8.4f %7.0f %8.2f %8.2f %8.2f\n", name.c_str(),
              kind, estimate.mean, estimate.mcse_mean, estimate.ess_mean, estimate.sd,
              estimate.mcse_sd, quantile(0.95).ess, quantile(0.05).value, quantile(0.5).value,
              quantile(0.95).value);
}

void run() {
  rehmc::SampleSettings settings;
  settings.seed = 8;
  settings.kernel.recycling = rehmc::parse_recycling("spread:8");
  settings.warmup.adapt_step_size.target_acceptance = 0.9;
  const rehmc::SampleResult result = rehmc::sample(rehmc::EightSchoolsNonCentred{}, settings);

  std::uint64_t gradients = 0;
  std::size_t divergences = 0;
  for (const auto& chain : result.chains) {
    gradients += chain.gradients_warmup + chain.gradients_sampling;
    divergences += chain.record.divergences.size();
  }
  std::printf("Eight schools, non-centred: %zu chains x %zu draws, seed %llu, %llu gradients, ",
              result.chains.size(), result.chains.front().record.size(),
              static_cast<unsigned long long>(result.seed),
              static_cast<unsigned long long>(gradients));
  std::printf(
      "%zu divergences.\nplain: the chain's own draws. recycled: the same chain, but every ",
      divergences);
  std::printf(
      "state of every trajectory counts.\n\n%-14s %-9s %8s %8s %7s %8s %8s %7s %8s %8s %8s\n",
      "parameter", "estimate", "mean", "mcse", "ess", "sd", "mcse", "ess95%", "5%", "50%", "95%");
  double worst_rhat = 0;
  for (const auto& row : rehmc::summarise(result)) {
    print_row(row.name, "plain", row.plain);
    print_row("", "recycled", *row.recycled);
    worst_rhat = std::max(worst_rhat, row.convergence.rhat);
  }
  std::printf("\nWorst R-hat %.4f.\n", worst_rhat);
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const rehmc::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
