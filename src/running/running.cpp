// Summaries of endless chains: batch sums, and what they tell when several chains are put together.
#include "rehmc/running/running.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "pooled_batches.hpp"

namespace rehmc {

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
/// Above this, chains disagree so much that no batch of one tells how far it is from the others.
constexpr double most_rhat = 1.05;

using Batch = BatchSums::Batch;

/// Mean and variance of one coordinate from the batches of several chains.
class MomentBatches {
 public:
  MomentBatches(Summaries chains, std::size_t coordinate,
                const BatchSums& (RunningSummary::*part)() const)
      : batches_(chains, coordinate, part),
        offset_(batches_.total.first / batches_.total.mass),
        variance_(std::max(0.0, squares_about_mean(batches_.total) / batches_.total.mass)) {}

  double mean() const { return batches_.centre + offset_; }
  /// Population form.
  double variance() const { return variance_; }
  double draws() const { return batches_.total.draws; }

  double squared_error_of_mean(bool disagree) const {
    const auto deviation = [&](const Batch& batch) { return batch.first - offset_ * batch.mass; };
    return batches_.squared_error(batches_.over_full(deviation), disagree);
  }
  double squared_error_of_variance(bool disagree) const {
    const auto deviation = [&](const Batch& batch) {
      return squares_about_mean(batch) - variance_ * batch.mass;
    };
    return batches_.squared_error(batches_.over_full(deviation), disagree);
  }

  /// Gelman et al. (2013), Bayesian Data Analysis, section 11.4, for draws that all count alike.
  double split_rhat() const {
    if (!batches_.enough) return nan_value;
    std::vector<Batch> halves;
    std::size_t begin = 0;
    for (const std::size_t end : batches_.ends) {
      // An odd batch in the middle belongs to neither half.
      const std::size_t half = (end - begin) / 2;
      const auto of_chain = std::span(batches_.full).subspan(begin, end - begin);
      halves.push_back(sum_of(of_chain.first(half)));
      halves.push_back(sum_of(of_chain.last(half)));
      begin = end;
    }
    const auto count = static_cast<double>(halves.size());
    const double length = sum_of(halves).draws / count;
    double mean = 0;
    double within = 0;
    for (const Batch& half : halves) {
      const double of_half = half.first / half.draws;
      mean += of_half / count;
      within += std::max(0.0, half.second - of_half * half.first) / (half.draws - 1) / count;
    }
    double between = 0;
    for (const Batch& half : halves) {
      between += std::pow(half.first / half.draws - mean, 2) / (count - 1);
    }
    return std::sqrt(between / within + (length - 1) / length);
  }

 private:
  double squares_about_mean(const Batch& batch) const {
    return batch.second - offset_ * (2 * batch.first - offset_ * batch.mass);
  }

  PooledBatches batches_;
  double offset_;  ///< of the mean from the centre
  double variance_;
};

/// By the rules of check_draws().
DrawsCondition condition_of(Summaries chains, std::size_t coordinate, const MomentBatches& batches,
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

PartEstimate estimate_part(Summaries chains, std::size_t coordinate, const MomentBatches& batches,
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

double variance_of_squares(Summaries chains, std::size_t coordinate, const MomentBatches& batches) {
  double sum = 0;
  for (const RunningSummary* const chain : chains) {
    sum += chain->fourth_power(coordinate, batches.mean() - chain->centre(coordinate));
  }
  return sum / batches.draws() - batches.variance() * batches.variance();
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

BatchSums::BatchSums(std::size_t dimension, std::span<const double> scale) : BatchSums(dimension) {
  scale_.assign(scale.begin(), scale.end());
  for (double& value : scale_) {
    if (!(value > 0) || !std::isfinite(value)) value = 1;
  }
  stein_.resize(most_batches * 3 * dimension);
}

void BatchSums::add(std::span<const double> offset, std::span<const double> square,
                    const GradientMeans& gradients, double mass) {
  const double* const u = offset.data();
  const double* const g = gradients.gradient.data();
  const double* const ug = gradients.first.data();
  const double* const uug = gradients.second.data();
  const double* const scale = scale_.data();
  float* const gradient = stein_.data() + full_ * 3 * dimension_;
  float* const first = gradient + dimension_;
  float* const second = first + dimension_;
#pragma omp simd
  for (std::size_t i = 0; i < dimension_; ++i) {
    gradient[i] += static_cast<float>(mass * g[i] * scale[i]);
    first[i] += static_cast<float>(mass * (ug[i] + 1));
    second[i] += static_cast<float>(mass * (uug[i] + 2 * u[i]) / scale[i]);
  }
  add(offset, square, mass);
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
  const auto merge_neighbours = [](auto& rows) {
    const std::size_t width = rows.size() / most_batches;
    for (std::size_t b = 0; b < most_batches / 2; ++b) {
      auto* const target = rows.data() + b * width;
      const auto* const left = rows.data() + 2 * b * width;
      const auto* const right = left + width;
      for (std::size_t i = 0; i < width; ++i) target[i] = left[i] + right[i];
    }
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2), rows.end(), 0);
  };
  merge_neighbours(masses_);
  merge_neighbours(first_);
  merge_neighbours(second_);
  merge_neighbours(stein_);
  full_ = most_batches / 2;
  length_ *= 2;
}

BatchSums::Batch BatchSums::batch(std::size_t index, std::size_t coordinate, double shift) const {
  const double first = first_[index * dimension_ + coordinate];
  const double second = second_[index * dimension_ + coordinate];
  const double mass = masses_[index];
  Batch batch{.draws = static_cast<double>(index < full_ ? length_ : filled_),
              .mass = mass,
              .first = first + shift * mass,
              .second = second + shift * (2 * first + shift * mass)};
  if (has_stein()) {
    const float* const stein = stein_.data() + index * 3 * dimension_ + coordinate;
    const double scale = scale_[coordinate];
    const double of_constant = stein[0] / scale;
    const double of_offset = stein[dimension_];
    const double of_square = stein[2 * dimension_] * scale;
    batch.stein = {of_constant, of_offset + shift * of_constant,
                   of_square + shift * (2 * of_offset + shift * of_constant)};
  }
  return batch;
}

std::size_t BatchSums::bytes() const {
  return sizeof(double) *
             (masses_.capacity() + first_.capacity() + second_.capacity() + scale_.capacity()) +
         sizeof(float) * stein_.capacity();
}

RunningSummary::RunningSummary(std::span<const double> centre, std::span<const double> scale,
                               bool recycling, bool gradients)
    : recycling_(recycling),
      centre_(centre.begin(), centre.end()),
      plain_(centre.size()),
      plain_bins_(centre, scale),
      third_(centre.size()),
      fourth_(centre.size()) {
  if (!recycling) return;
  recycled_ = gradients ? BatchSums(centre.size(), scale) : BatchSums(centre.size());
  recycled_bins_ = BinnedQuantiles(centre, scale);
}

void RunningSummary::add(std::span<const double> position, std::span<const double> mean_offset,
                         std::span<const double> mean_square, std::span<const WeightedState> kept,
                         double mass, const GradientMeans& gradients) {
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
  if (recycled_.has_stein()) {
    recycled_.add(mean_offset, mean_square, gradients, mass);
  } else {
    recycled_.add(mean_offset, mean_square, mass);
  }
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
  check_alike(chains);
  const MomentBatches plain(chains, coordinate, &RunningSummary::plain);
  const double rhat = plain.split_rhat();
  const Judgement judgement{variance_of_squares(chains, coordinate, plain), rhat > most_rhat};
  RunningEstimate result;
  PartEstimate part = estimate_part(chains, coordinate, plain, &RunningSummary::plain_bins,
                                    judgement, probabilities);
  result.plain = std::move(part.estimate);
  result.plain_bounds = std::move(part.bounds);
  if (result.plain.condition == DrawsCondition::ordinary) result.rhat = rhat;
  if (!chains.front()->recycling()) return result;
  const MomentBatches recycled(chains, coordinate, &RunningSummary::recycled);
  part = estimate_part(chains, coordinate, recycled, &RunningSummary::recycled_bins, judgement,
                       probabilities);
  result.recycled = std::move(part.estimate);
  result.recycled_bounds = std::move(part.bounds);
  if (chains.front()->gradients() && std::isfinite(result.recycled->mcse_sd)) {
    result.sharpened = sharpen_batches(chains, coordinate, *result.recycled,
                                       judgement.spread_of_squares, judgement.disagree);
  }
  return result;
}

std::vector<RunningEstimate> running_estimates(Summaries chains,
                                               std::span<const double> probabilities) {
  check_alike(chains);
  std::vector<RunningEstimate> result;
  result.reserve(chains.front()->dimension());
  for (std::size_t i = 0; i < chains.front()->dimension(); ++i) {
    result.push_back(running_estimate(chains, i, probabilities));
  }
  return result;
}

}  // namespace rehmc
