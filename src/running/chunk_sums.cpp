// Adds draws to chunks, and merges neighbouring chunks when all are full.
#include "rehmc/running/chunk_sums.hpp"

#include <algorithm>
#include <cmath>

#include "rehmc/core/instructions.hpp"

namespace rehmc {

ChunkSums::ChunkSums(std::size_t dimension)
    : dimension_(dimension),
      masses_(most_chunks),
      first_(most_chunks * dimension),
      second_(most_chunks * dimension) {}

void ChunkSums::add(std::span<const double> offset, std::span<const double> square, double mass) {
  double* const first = first_.data() + full_ * dimension_;
  double* const second = second_.data() + full_ * dimension_;
  hot_loop([=, d = dimension_] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      first[i] += mass * offset[i];
      second[i] += mass * square[i];
    }
  });
  end_draw(mass);
}

ChunkSums::ChunkSums(std::size_t dimension, std::span<const double> scale) : ChunkSums(dimension) {
  scale_.assign(scale.begin(), scale.end());
  for (double& value : scale_) {
    if (!(value > 0) || !std::isfinite(value)) value = 1;
  }
  stein_.resize(most_chunks * 3 * dimension);
}

void ChunkSums::add(std::span<const double> offset, std::span<const double> square,
                    const GradientMeans& gradients, double mass) {
  const double* const u = offset.data();
  const double* const g = gradients.gradient.data();
  const double* const ug = gradients.first.data();
  const double* const uug = gradients.second.data();
  const double* const scale = scale_.data();
  float* const gradient = stein_.data() + full_ * 3 * dimension_;
  float* const first = gradient + dimension_;
  float* const second = first + dimension_;
  hot_loop([=, d = dimension_] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      gradient[i] += static_cast<float>(mass * g[i] * scale[i]);
      first[i] += static_cast<float>(mass * (ug[i] + 1));
      second[i] += static_cast<float>(mass * (uug[i] + 2 * u[i]) / scale[i]);
    }
  });
  add(offset, square, mass);
}

void ChunkSums::add_position(std::span<const double> position, std::span<const double> centre) {
  double* const first = first_.data() + full_ * dimension_;
  double* const second = second_.data() + full_ * dimension_;
  hot_loop([=, d = dimension_] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double offset = position[i] - centre[i];
      first[i] += offset;
      second[i] += offset * offset;
    }
  });
  end_draw(1);
}

void ChunkSums::end_draw(double mass) {
  masses_[full_] += mass;
  if (++filled_ < length_) return;
  filled_ = 0;
  if (++full_ < most_chunks) return;
  const auto merge_neighbours = [](auto& rows) {
    const std::size_t width = rows.size() / most_chunks;
    for (std::size_t b = 0; b < most_chunks / 2; ++b) {
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
  full_ = most_chunks / 2;
  length_ *= 2;
}

ChunkSums::Chunk ChunkSums::chunk(std::size_t index, std::size_t coordinate, double shift) const {
  const double first = first_[index * dimension_ + coordinate];
  const double second = second_[index * dimension_ + coordinate];
  const double mass = masses_[index];
  Chunk chunk{.draws = static_cast<double>(index < full_ ? length_ : filled_),
              .mass = mass,
              .first = first + shift * mass,
              .second = second + shift * (2 * first + shift * mass)};
  if (has_stein()) {
    const float* const stein = stein_.data() + index * 3 * dimension_ + coordinate;
    const double scale = scale_[coordinate];
    const double of_constant = stein[0] / scale;
    const double of_offset = stein[dimension_];
    const double of_square = stein[2 * dimension_] * scale;
    chunk.stein = {of_constant, of_offset + shift * of_constant,
                   of_square + shift * (2 * of_offset + shift * of_constant)};
  }
  return chunk;
}

bool ChunkSums::is_whole(std::size_t dimension) const {
  const std::size_t numbers = most_chunks * dimension;
  return dimension_ == dimension && masses_.size() == most_chunks && first_.size() == numbers &&
         second_.size() == numbers && (scale_.empty() || scale_.size() == dimension) &&
         stein_.size() == (scale_.empty() ? 0 : 3 * numbers) && full_ < most_chunks &&
         filled_ < length_;
}

std::size_t ChunkSums::bytes() const {
  return sizeof(double) *
             (masses_.capacity() + first_.capacity() + second_.capacity() + scale_.capacity()) +
         sizeof(float) * stein_.capacity();
}
}  // namespace rehmc
