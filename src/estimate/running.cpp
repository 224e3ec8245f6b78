// Summaries of endless chains: batch sums, and what they tell when several chains are put together.
#include "rehmc/estimate/running.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc {

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
/// Below so many full batches their scatter says too little.
constexpr std::size_t fewest_batches = 8;
/// Above this, chains disagree so much that no batch of one tells how far it is from the others.
constexpr double most_rhat = 1.05;

using Summaries = std::span<const RunningSummary* const>;
using Batch = BatchSums::Batch;

/// All must be of one coordinate and about the same centre.
Batch sum_of(std::span<const Batch> batches) {
  Batch total;
  for (const Batch& batch : batches) {
    total.draws += batch.draws;
    total.mass += batch.mass;
    total.first += batch.first;
    total.second += batch.second;
  }
  return total;
}

/// The batches of one coordinate of several chains.
class PooledBatches {
 public:
  PooledBatches(Summaries chains, std::size_t coordinate,
                const BatchSums& (RunningSummary::*part)() const)
      : centre_(chains.front()->centre(coordinate)) {
    for (const RunningSummary* const chain : chains) {
      const BatchSums& sums = (chain->*part)();
      const double shift = chain->centre(coordinate) - centre_;
      std::vector<Batch> full;
      for (std::size_t b = 0; b < sums.full(); ++b) {
        full.push_back(sums.batch(b, coordinate, shift));
      }
      // An odd batch in the middle belongs to neither half.
      const std::size_t half = full.size() / 2;
      halves_.push_back(sum_of(std::span(full).first(half)));
      halves_.push_back(sum_of(std::span(full).last(half)));
      full_.insert(full_.end(), full.begin(), full.end());
      begun_.push_back(sums.batch(sums.full(), coordinate, shift));
      enough_ = enough_ && full.size() >= fewest_batches;
    }
    const std::array parts{sum_of(full_), sum_of(begun_)};
    total_ = sum_of(parts);
    offset_ = total_.first / total_.mass;
    variance_ = std::max(0.0, squares_about_mean(total_) / total_.mass);
  }

  double mean() const { return centre_ + offset_; }
  /// Population form.
  double variance() const { return variance_; }
  double draws() const { return total_.draws; }

  /// Squared Monte Carlo standard errors: by batches, and by the halves of the chains if these
  /// disagree.
  double squared_error_of_mean(bool disagree) const {
    return squared_error(disagree,
                         [&](const Batch& batch) { return batch.first - offset_ * batch.mass; });
  }
  double squared_error_of_variance(bool disagree) const {
    return squared_error(disagree, [&](const Batch& batch) {
      return squares_about_mean(batch) - variance_ * batch.mass;
    });
  }

  /// Gelman et al. (2013), Bayesian Data Analysis, section 11.4, for draws that all count alike.
  double split_rhat() const {
    if (!enough_) return nan_value;
    const auto count = static_cast<double>(halves_.size());
    const double length = sum_of(halves_).draws / count;
    double mean = 0;
    double within = 0;
    for (const Batch& half : halves_) {
      const double of_half = half.first / half.draws;
      mean += of_half / count;
      within += std::max(0.0, half.second - of_half * half.first) / (half.draws - 1) / count;
    }
    double between = 0;
    for (const Batch& half : halves_) {
      between += std::pow(half.first / half.draws - mean, 2) / (count - 1);
    }
    return std::sqrt(between / within + (length - 1) / length);
  }

 private:
  double squares_about_mean(const Batch& batch) const {
    return batch.second - offset_ * (2 * batch.first - offset_ * batch.mass);
  }

  /// Of an average over all draws, given the sum of its deviations over a batch.
  template <class Deviation>
  double squared_error(bool disagree, Deviation deviation) const {
    if (!enough_) return nan_value;
    const auto long_run_variance = [&](const std::vector<Batch>& batches) {
      double sum = 0;
      for (const Batch& batch : batches) sum += std::pow(deviation(batch), 2) / batch.draws;
      return sum / static_cast<double>(batches.size() - 1);
    };
    double variance = long_run_variance(full_);
    if (disagree) variance = std::max(variance, long_run_variance(halves_));
    const double mean_mass = total_.mass / total_.draws;
    return variance / total_.draws / (mean_mass * mean_mass);
  }

  double centre_;
  std::vector<Batch> full_;    ///< of all chains
  std::vector<Batch> halves_;  ///< each the sum of half the full batches of a chain
  std::vector<Batch> begun_;   ///< the last batch of each chain
  Batch total_;
  bool enough_ = true;
  double offset_ = 0;  ///< of the mean from the centre
  double variance_ = 0;
};

/// By the rules of check_draws().
DrawsCondition condition_of(Summaries chains, std::size_t coordinate, const PooledBatches& batches,
                            const BinnedQuantiles& (RunningSummary::*bins)() const) {
  if (chains.front()->count() == 0) return DrawsCondition::too_short;
  if (!std::isfinite(batches.mean()) || !std::isfinite(batches.variance())) {
    return DrawsCondition::not_finite;
  }
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  bool stuck = false;
  for (const RunningSummary* const chain : chains) {
    if (chain->count() < 4) return DrawsCondition::too_short;
    const BinnedQuantiles& of_chain = (chain->*bins)();
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

PartEstimate estimate_part(Summaries chains, std::size_t coordinate, const PooledBatches& batches,
                           const BinnedQuantiles& (RunningSummary::*bins)() const,
                           const Judgement& judgement, std::span<const double> probabilities) {
  PartEstimate result;
  Estimate& estimate = result.estimate;
  estimate.condition = condition_of(chains, coordinate, batches, bins);
  const double corrected = batches.variance() * batches.draws() / (batches.draws() - 1);
  estimate.mean = batches.mean();
  estimate.sd = std::sqrt(corrected);
  const bool ordinary = estimate.condition == DrawsCondition::ordinary;
  const double squared_error =
      ordinary ? batches.squared_error_of_mean(judgement.disagree) : nan_value;
  estimate.mcse_mean = std::sqrt(squared_error);
  estimate.ess_mean = corrected / squared_error;
  // The delta method: Var(sd) = Var(variance) / (4 variance).
  const double of_variance =
      ordinary ? batches.squared_error_of_variance(judgement.disagree) : nan_value;
  estimate.mcse_sd = std::sqrt(of_variance / batches.variance() / 4);
  estimate.ess_sd = judgement.spread_of_squares / of_variance;

  if (probabilities.empty()) return result;
  std::vector<const BinnedQuantiles*> streams;
  for (const RunningSummary* const chain : chains) streams.push_back(&(chain->*bins)());
  const PooledBins pooled(streams, coordinate);
  for (const double p : probabilities) {
    const BinnedQuantile quantile = pooled.quantile(p);
    estimate.quantiles.push_back({p, quantile.value, nan_value, nan_value});
    result.bounds.push_back(quantile.error_bound);
  }
  return result;
}

double variance_of_squares(Summaries chains, std::size_t coordinate, const PooledBatches& batches) {
  double sum = 0;
  for (const RunningSummary* const chain : chains) {
    sum += chain->fourth_power(coordinate, batches.mean() - chain->centre(coordinate));
  }
  return sum / batches.draws() - batches.variance() * batches.variance();
}

void check(Summaries chains) {
  if (chains.empty()) throw DataError("running estimates: found no chains, give at least one");
  for (const RunningSummary* const chain : chains) {
    if (chain->dimension() != chains.front()->dimension() ||
        chain->recycling() != chains.front()->recycling()) {
      throw DataError(fmt::format(
          "running estimates: chains of dimension {} {} recycling and {} {}: must be alike",
          chains.front()->dimension(), chains.front()->recycling() ? "with" : "without",
          chain->dimension(), chain->recycling() ? "with" : "without"));
    }
  }
}

}  // namespace

BatchSums::BatchSums(std::size_t dimension)
    : dimension_(dimension),
      masses_(most_batches),
      first_(most_batches * dimension),
      second_(most_batches * dimension) {}

void BatchSums::add(std::span<const double> offset, std::span<const double> square, double mass) {
  double* const first = first_.data() + full_ * dimension_;
  double* const second = second_.data() + full_ * dimension_;
#pragma omp simd
  for (std::size_t i = 0; i < dimension_; ++i) {
    first[i] += mass * offset[i];
    second[i] += mass * square[i];
  }
  end_draw(mass);
}

void BatchSums::add_position(std::span<const double> position, std::span<const double> centre) {
  double* const first = first_.data() + full_ * dimension_;
  double* const second = second_.data() + full_ * dimension_;
#pragma omp simd
  for (std::size_t i = 0; i < dimension_; ++i) {
    const double offset = position[i] - centre[i];
    first[i] += offset;
    second[i] += offset * offset;
  }
  end_draw(1);
}

void BatchSums::end_draw(double mass) {
  masses_[full_] += mass;
  if (++filled_ < length_) return;
  filled_ = 0;
  if (++full_ < most_batches) return;
  const auto merge_neighbours = [](std::vector<double>& rows) {
    const std::size_t width = rows.size() / most_batches;
    for (std::size_t b = 0; b < most_batches / 2; ++b) {
      double* const target = rows.data() + b * width;
      const double* const left = rows.data() + 2 * b * width;
      const double* const right = left + width;
      for (std::size_t i = 0; i < width; ++i) target[i] = left[i] + right[i];
    }
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2), rows.end(), 0.0);
  };
  merge_neighbours(masses_);
  merge_neighbours(first_);
  merge_neighbours(second_);
  full_ = most_batches / 2;
  length_ *= 2;
}

BatchSums::Batch BatchSums::batch(std::size_t index, std::size_t coordinate, double shift) const {
  const double first = first_[index * dimension_ + coordinate];
  const double second = second_[index * dimension_ + coordinate];
  const double mass = masses_[index];
  return {.draws = static_cast<double>(index < full_ ? length_ : filled_),
          .mass = mass,
          .first = first + shift * mass,
          .second = second + shift * (2 * first + shift * mass)};
}

std::size_t BatchSums::bytes() const {
  return sizeof(double) * (masses_.capacity() + first_.capacity() + second_.capacity());
}

RunningSummary::RunningSummary(std::span<const double> centre, std::span<const double> scale,
                               bool recycling)
    : recycling_(recycling),
      centre_(centre.begin(), centre.end()),
      plain_(centre.size()),
      plain_bins_(centre, scale),
      third_(centre.size()),
      fourth_(centre.size()) {
  if (!recycling) return;
  recycled_ = BatchSums(centre.size());
  recycled_bins_ = BinnedQuantiles(centre, scale);
}

void RunningSummary::add(std::span<const double> position, std::span<const double> mean_offset,
                         std::span<const double> mean_square, std::span<const WeightedState> kept,
                         double mass) {
  plain_.add_position(position, centre_);
  plain_bins_.add(1, position);
  double* const third = third_.data();
  double* const fourth = fourth_.data();
  const double* const x = position.data();
  const double* const centre = centre_.data();
#pragma omp simd
  for (std::size_t i = 0; i < centre_.size(); ++i) {
    const double offset = x[i] - centre[i];
    const double square = offset * offset;
    third[i] += square * offset;
    fourth[i] += square * square;
  }
  if (!recycling_) return;
  recycled_.add(mean_offset, mean_square, mass);
  recycled_bins_.add(kept, mass);
}

double RunningSummary::fourth_power(std::size_t coordinate, double offset) const {
  Batch total;
  for (std::size_t b = 0; b <= plain_.full(); ++b) {
    const Batch batch = plain_.batch(b, coordinate);
    total.mass += batch.mass;
    total.first += batch.first;
    total.second += batch.second;
  }
  // The binomial formula, from the inside out.
  const double inner = 6 * total.second - offset * (4 * total.first - offset * total.mass);
  return fourth_[coordinate] - offset * (4 * third_[coordinate] - offset * inner);
}

std::size_t RunningSummary::bytes() const {
  return plain_.bytes() + recycled_.bytes() + plain_bins_.bytes() + recycled_bins_.bytes() +
         sizeof(double) * (centre_.capacity() + third_.capacity() + fourth_.capacity());
}

RunningEstimate running_estimate(Summaries chains, std::size_t coordinate,
                                 std::span<const double> probabilities) {
  check(chains);
  const PooledBatches plain(chains, coordinate, &RunningSummary::plain);
  const double rhat = plain.split_rhat();
  const Judgement judgement{variance_of_squares(chains, coordinate, plain), rhat > most_rhat};
  RunningEstimate result;
  PartEstimate part = estimate_part(chains, coordinate, plain, &RunningSummary::plain_bins,
                                    judgement, probabilities);
  result.plain = std::move(part.estimate);
  result.plain_bounds = std::move(part.bounds);
  if (result.plain.condition == DrawsCondition::ordinary) result.rhat = rhat;
  if (!chains.front()->recycling()) return result;
  const PooledBatches recycled(chains, coordinate, &RunningSummary::recycled);
  part = estimate_part(chains, coordinate, recycled, &RunningSummary::recycled_bins, judgement,
                       probabilities);
  result.recycled = std::move(part.estimate);
  result.recycled_bounds = std::move(part.bounds);
  return result;
}

std::vector<RunningEstimate> running_estimates(Summaries chains,
                                               std::span<const double> probabilities) {
  check(chains);
  std::vector<RunningEstimate> result;
  result.reserve(chains.front()->dimension());
  for (std::size_t i = 0; i < chains.front()->dimension(); ++i) {
    result.push_back(running_estimate(chains, i, probabilities));
  }
  return result;
}

}  // namespace rehmc
