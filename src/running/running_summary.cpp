// Adds draws, one at a time, to the running summary of a chain.
#include "rehmc/running/running_summary.hpp"

#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"

namespace rehmc {

RunningSummary::RunningSummary(std::span<const double> centre, std::span<const double> scale,
                               bool recycling, bool gradients)
    : recycling_(recycling),
      centre_(centre.begin(), centre.end()),
      plain_(centre.size()),
      plain_bins_(centre, scale),
      third_(centre.size()),
      fourth_(centre.size()) {
  if (!recycling) return;
  recycled_ = gradients ? ChunkSums(centre.size(), scale) : ChunkSums(centre.size());
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
  hot_loop([=, d = centre_.size()] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double offset = x[i] - centre[i];
      const double square = offset * offset;
      third[i] += square * offset;
      fourth[i] += square * square;
    }
  });
  if (!recycling_) return;
  if (recycled_.has_stein()) {
    recycled_.add(mean_offset, mean_square, gradients, mass);
  } else {
    recycled_.add(mean_offset, mean_square, mass);
  }
  recycled_bins_.add(kept, mass);
}

double RunningSummary::fourth_power(std::size_t coordinate, double offset) const {
  ChunkSums::Chunk total;
  for (std::size_t b = 0; b <= plain_.full(); ++b) {
    const ChunkSums::Chunk chunk = plain_.chunk(b, coordinate);
    total.mass += chunk.mass;
    total.first += chunk.first;
    total.second += chunk.second;
  }
  // The binomial formula, from the inside out.
  const double inner = 6 * total.second - offset * (4 * total.first - offset * total.mass);
  return fourth_[coordinate] - offset * (4 * third_[coordinate] - offset * inner);
}

void RunningSummary::require_whole() const {
  const std::size_t d = dimension();
  const bool draws = plain_.is_whole(d) && plain_bins_.is_whole(d) && third_.size() == d &&
                     fourth_.size() == d && !plain_.has_stein();
  const bool states =
      recycling_ ? recycled_.is_whole(d) && recycled_bins_.is_whole(d) : !recycled_.has_stein();
  if (!draws || !states) throw DataError("stored running summaries do not fit together");
}

std::size_t RunningSummary::bytes() const {
  return plain_.bytes() + recycled_.bytes() + plain_bins_.bytes() + recycled_bins_.bytes() +
         sizeof(double) * (centre_.capacity() + third_.capacity() + fourth_.capacity());
}
}  // namespace rehmc
