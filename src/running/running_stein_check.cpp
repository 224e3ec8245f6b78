// Compares averages of Stein features over all chains with their known mean, 0.
#include "rehmc/running/running_stein_check.hpp"

#include <cmath>

#include "pooled_chunks.hpp"
#include "rehmc/estimate/distributions.hpp"

namespace rehmc {

namespace {

using Chunk = ChunkSums::Chunk;

}  // namespace

SteinCheck running_stein_check(Summaries chains) {
  check_alike(chains);
  SteinCheck check;
  if (!chains.front()->gradients()) return check;
  for (const RunningSummary* const chain : chains) {
    if (chain->count() < fewest_draws_of_running_check) return check;
  }
  std::size_t chunks = 0;
  for (std::size_t i = 0; i < chains.front()->dimension(); ++i) {
    const PooledChunks centred(chains, i, &RunningSummary::recycled);
    const PooledChunks pooled(chains, i, &RunningSummary::recycled,
                              centred.total.first / centred.total.mass);
    const Chunk total = sum_of(pooled.full);
    chunks = pooled.full.size();
    for (std::size_t feature = 0; feature < 2; ++feature) {
      const double average = total.stein[feature] / total.draws;
      const std::vector<double> deviation = pooled.over_full(
          [&](const Chunk& chunk) { return chunk.stein[feature] - average * chunk.draws; });
      const double variance = pooled.long_run_variance(deviation, Neighbours::counted);
      const double z = std::abs(average) * std::sqrt(total.draws / variance);
      if (std::isnan(z)) continue;
      ++check.features;
      if (z <= check.worst) continue;
      check.worst = z;
      check.coordinate = i;
    }
  }
  if (check.features == 0) return check;
  // A variance that accounts for neighbours is as noisy as one from a third of the chunks.
  const double degrees = static_cast<double>(chunks - 1) / 3;
  const auto count = static_cast<double>(check.features);
  check.limit = two_sided_student_quantile(SteinCheck::false_alarm_rate / count, degrees);
  check.refusal_limit = two_sided_student_quantile(SteinCheck::false_refusal_rate / count, degrees);
  return check;
}

}  // namespace rehmc
