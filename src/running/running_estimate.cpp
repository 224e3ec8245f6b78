// Means, sds, quantiles and R-hat of several chains from their chunks and bins.
#include "rehmc/running/running_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "chunk_regression.hpp"
#include "pooled_chunks.hpp"
#include "rehmc/running/pooled_bins.hpp"

namespace rehmc {

namespace {

/// Above this, chains disagree so much that chunks of one chain do not show how far it is from the
/// others.
constexpr double most_rhat = 1.05;

using Chunk = ChunkSums::Chunk;

/// Mean and variance of one coordinate from the chunks of several chains.
class MomentChunks {
 public:
  MomentChunks(Summaries chains, std::size_t coordinate,
               const ChunkSums& (RunningSummary::*part)() const)
      : chunks_(chains, coordinate, part),
        offset_(chunks_.total.first / chunks_.total.mass),
        variance_(std::max(0.0, squares_about_mean(chunks_.total) / chunks_.total.mass)) {}

  double mean() const { return chunks_.centre + offset_; }
  /// Population form.
  double variance() const { return variance_; }
  double draws() const { return chunks_.total.draws; }

  double squared_error_of_mean(bool disagree) const {
    const auto deviation = [&](const Chunk& chunk) { return chunk.first - offset_ * chunk.mass; };
    return chunks_.squared_error(chunks_.over_full(deviation), disagree);
  }
  double squared_error_of_variance(bool disagree) const {
    const auto deviation = [&](const Chunk& chunk) {
      return squares_about_mean(chunk) - variance_ * chunk.mass;
    };
    return chunks_.squared_error(chunks_.over_full(deviation), disagree);
  }

  struct Agreement {
    double rhat = nan_value;
    double ess_within = nan_value;      ///< as in RunningEstimate
    double degrees_within = nan_value;  ///< likewise
  };
  /// Gelman et al. (2013), Bayesian Data Analysis, section 11.4, for draws that all count the same.
  Agreement agreement() const {
    if (!chunks_.enough) return {};
    std::vector<Chunk> halves;
    Scatter scatter;
    std::size_t begin = 0;
    for (const std::size_t end : chunks_.ends) {
      // An odd chunk in the middle belongs to neither half.
      const std::size_t half = (end - begin) / 2;
      const auto of_chain = std::span(chunks_.full).subspan(begin, end - begin);
      for (const auto& chunks : {of_chain.first(half), of_chain.last(half)}) {
        halves.push_back(sum_of(chunks));
        scatter.add(chunks, halves.back().first / halves.back().draws);
      }
      begin = end;
    }
    const auto count = static_cast<double>(halves.size());
    const double length = sum_of(halves).draws / count;
    double mean = 0;
    double within = 0;
    for (const Chunk& half : halves) {
      const double of_half = half.first / half.draws;
      mean += of_half / count;
      within += std::max(0.0, half.second - of_half * half.first) / (half.draws - 1) / count;
    }
    double between = 0;
    for (const Chunk& half : halves) {
      between += std::pow(half.first / half.draws - mean, 2) / (count - 1);
    }
    const Scatter::Variance long_run = scatter.long_run();
    return {std::sqrt(between / within + (length - 1) / length),
            count * length * within / long_run.value, long_run.degrees};
  }

 private:
  /// Of the sums over chunks about the means of their halves.
  struct Scatter {
    void add(std::span<const Chunk> chunks, double mean) {
      double before = 0;
      for (const Chunk& chunk : chunks) {
        const double deviation = chunk.first - mean * chunk.draws;
        squares += deviation * deviation / chunk.draws;
        products += before * deviation / chunk.draws;
        before = deviation;
      }
      count += static_cast<double>(chunks.size());
      ++halves;
    }
    struct Variance {
      double value;
      double degrees;
    };
    /// The long-run variance per draw. With the products of neighbours, which correlate if chunks
    /// are short, if that is more. Deviations from the mean of a half cost one chunk of each half
    /// in the squares, and two more in the products; three lags instead of one leave a third of the
    /// degrees of freedom.
    Variance long_run() const {
      const Variance alone{squares / (count - halves), count - halves};
      const double left = count - 3 * halves;
      const Variance with_neighbours{(squares + 2 * products) / left, left / 3};
      return left > 0 && with_neighbours.value > alone.value ? with_neighbours : alone;
    }

    double squares = 0;
    double products = 0;
    double count = 0;
    double halves = 0;
  };

  double squares_about_mean(const Chunk& chunk) const {
    return chunk.second - offset_ * (2 * chunk.first - offset_ * chunk.mass);
  }

  PooledChunks chunks_;
  double offset_;  ///< of the mean from the centre
  double variance_;
};

/// By the rules of check_draws().
DrawsCondition condition_of(Summaries chains, std::size_t coordinate, const MomentChunks& chunks,
                            const BinnedQuantiles& (RunningSummary::*bins_of)() const) {
  if (chains.front()->count() == 0) return DrawsCondition::too_short;
  if (!std::isfinite(chunks.mean()) || !std::isfinite(chunks.variance())) {
    return DrawsCondition::not_finite;
  }
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  bool stuck = false;
  for (const RunningSummary* const chain : chains) {
    if (chain->count() < 4) return DrawsCondition::too_short;
    const BinnedQuantiles& of_chain = (chain->*bins_of)();
    least = std::min(least, of_chain.least(coordinate));
    most = std::max(most, of_chain.most(coordinate));
    stuck = stuck || of_chain.least(coordinate) >= of_chain.most(coordinate);
  }
  if (!(most - least >= std::numeric_limits<double>::epsilon())) return DrawsCondition::constant;
  return stuck ? DrawsCondition::stuck : DrawsCondition::ordinary;
}

struct PartEstimate {
  Estimate estimate;
  std::vector<double> bounds;
};

/// What is common to plain and recycled estimates, both judged on the plain chain.
struct Judgement {
  double spread_of_squares;  ///< Var((x - mean)^2)
  bool disagree;             ///< the chains
};

PartEstimate estimate_part(Summaries chains, std::size_t coordinate, const MomentChunks& chunks,
                           const BinnedQuantiles& (RunningSummary::*bins_of)() const,
                           const Judgement& judgement, std::span<const double> probabilities) {
  PartEstimate result;
  Estimate& estimate = result.estimate;
  estimate.condition = condition_of(chains, coordinate, chunks, bins_of);
  const double corrected = chunks.variance() * chunks.draws() / (chunks.draws() - 1);
  estimate.mean = chunks.mean();
  estimate.sd = std::sqrt(corrected);
  const bool ordinary = estimate.condition == DrawsCondition::ordinary;
  const double squared_error =
      ordinary ? chunks.squared_error_of_mean(judgement.disagree) : nan_value;
  estimate.mcse_mean = std::sqrt(squared_error);
  estimate.ess_mean = corrected / squared_error;
  // The delta method: Var(sd) = Var(variance) / (4 variance).
  const double of_variance =
      ordinary ? chunks.squared_error_of_variance(judgement.disagree) : nan_value;
  estimate.mcse_sd = std::sqrt(of_variance / chunks.variance() / 4);
  estimate.ess_sd = judgement.spread_of_squares / of_variance;

  if (probabilities.empty()) return result;
  std::vector<const BinnedQuantiles*> streams;
  for (const RunningSummary* const chain : chains) streams.push_back(&(chain->*bins_of)());
  const PooledBins pooled(streams, coordinate);
  for (const double p : probabilities) {
    const BinnedQuantile quantile = pooled.quantile(p);
    estimate.quantiles.push_back({p, quantile.value, nan_value, nan_value, nan_value});
    result.bounds.push_back(quantile.error_bound);
  }
  return result;
}

double variance_of_squares(Summaries chains, std::size_t coordinate, const MomentChunks& chunks) {
  double sum = 0;
  for (const RunningSummary* const chain : chains) {
    sum += chain->fourth_power(coordinate, chunks.mean() - chain->centre(coordinate));
  }
  return sum / chunks.draws() - chunks.variance() * chunks.variance();
}

}  // namespace

RunningEstimate running_estimate(Summaries chains, std::size_t coordinate,
                                 std::span<const double> probabilities) {
  check_alike(chains);
  const MomentChunks plain(chains, coordinate, &RunningSummary::plain);
  const MomentChunks::Agreement agreement = plain.agreement();
  const Judgement judgement{variance_of_squares(chains, coordinate, plain),
                            agreement.rhat > most_rhat};
  RunningEstimate result;
  PartEstimate part = estimate_part(chains, coordinate, plain, &RunningSummary::plain_bins,
                                    judgement, probabilities);
  result.plain = std::move(part.estimate);
  result.plain_bounds = std::move(part.bounds);
  if (result.plain.condition == DrawsCondition::ordinary) {
    result.rhat = agreement.rhat;
    result.ess_within = agreement.ess_within;
    result.degrees_within = agreement.degrees_within;
  }
  if (!chains.front()->recycling()) return result;
  const MomentChunks recycled(chains, coordinate, &RunningSummary::recycled);
  part = estimate_part(chains, coordinate, recycled, &RunningSummary::recycled_bins, judgement,
                       probabilities);
  result.recycled = std::move(part.estimate);
  result.recycled_bounds = std::move(part.bounds);
  if (chains.front()->gradients() && std::isfinite(result.recycled->mcse_sd)) {
    result.sharpened = sharpen_chunks(chains, coordinate, *result.recycled,
                                      judgement.spread_of_squares, judgement.disagree);
  }
  return result;
}
}  // namespace rehmc
