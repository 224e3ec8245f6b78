// Weighted moments and covariances in one pass.
#include "rehmc/estimate/moments.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "rehmc/core/error.hpp"
#include "rehmc/estimate/checks.hpp"

namespace rehmc {

namespace {

void require_size(const char* what, std::size_t size, std::size_t wanted) {
  if (size != wanted) {
    throw DataError(fmt::format("{} has {} numbers: these moments need {}", what, size, wanted));
  }
}

void require_sums(const ShiftedSums& sums, std::size_t dimension, std::size_t second) {
  require_weight(sums.weight);
  require_size("centre", sums.centre.size(), dimension);
  require_size("first", sums.first.size(), dimension);
  require_size("second", sums.second.size(), second);
}

constexpr std::size_t triangle(std::size_t dimension) { return dimension * (dimension + 1) / 2; }

}  // namespace

WeightedMoments::WeightedMoments(std::size_t dimension) : mean_(dimension), squares_(dimension) {}

void WeightedMoments::add(double weight, std::span<const double> x) {
  require_weight(weight);
  require_size("x", x.size(), dimension());
  if (weight == 0) return;
  const double sum = weight_ + weight;
  const double share = weight / sum;
  const double factor = weight_ * share;
  const double* values = x.data();
  double* mean = mean_.data();
  double* squares = squares_.data();
  const std::size_t d = dimension();
#pragma omp simd
  for (std::size_t i = 0; i < d; ++i) {
    const double difference = values[i] - mean[i];
    mean[i] += share * difference;
    squares[i] += factor * difference * difference;
  }
  weight_ = sum;
}

void WeightedMoments::add(const ShiftedSums& sums) {
  require_sums(sums, dimension(), dimension());
  if (sums.weight == 0) return;
  const double sum = weight_ + sums.weight;
  const double share = sums.weight / sum;
  const double factor = weight_ * share;
  for (std::size_t i = 0; i < dimension(); ++i) {
    const double shift = sums.first[i] / sums.weight;
    const double within = sums.second[i] - sums.first[i] * shift;
    const double difference = (sums.centre[i] - mean_[i]) + shift;
    mean_[i] += share * difference;
    // Rounding must not make a variance negative; NaN passes.
    squares_[i] += (within < 0 ? 0 : within) + factor * difference * difference;
  }
  weight_ = sum;
}

void WeightedMoments::merge(const WeightedMoments& other) {
  require_size("the other mean", other.dimension(), dimension());
  if (other.weight_ == 0) return;
  const double sum = weight_ + other.weight_;
  const double share = other.weight_ / sum;
  const double factor = weight_ * share;
  for (std::size_t i = 0; i < dimension(); ++i) {
    const double difference = other.mean_[i] - mean_[i];
    mean_[i] += share * difference;
    squares_[i] += other.squares_[i] + factor * difference * difference;
  }
  weight_ = sum;
}

void WeightedMoments::clear() {
  weight_ = 0;
  std::fill(mean_.begin(), mean_.end(), 0.0);
  std::fill(squares_.begin(), squares_.end(), 0.0);
}

std::vector<double> WeightedMoments::variance() const {
  std::vector<double> result(dimension());
  for (std::size_t i = 0; i < dimension(); ++i) result[i] = variance(i);
  return result;
}

WeightedCovariance::WeightedCovariance(std::size_t dimension)
    : mean_(dimension), products_(triangle(dimension)), difference_(dimension) {}

void WeightedCovariance::add_outer(double factor) {
  const double* difference = difference_.data();
  double* row = products_.data();
  for (std::size_t i = 0; i < dimension(); ++i) {
    const double scaled = factor * difference[i];
#pragma omp simd
    for (std::size_t j = 0; j <= i; ++j) row[j] += scaled * difference[j];
    row += i + 1;
  }
}

void WeightedCovariance::add(double weight, std::span<const double> x) {
  require_weight(weight);
  require_size("x", x.size(), dimension());
  if (weight == 0) return;
  const double sum = weight_ + weight;
  const double share = weight / sum;
  for (std::size_t i = 0; i < dimension(); ++i) {
    difference_[i] = x[i] - mean_[i];
    mean_[i] += share * difference_[i];
  }
  add_outer(weight_ * share);
  weight_ = sum;
}

void WeightedCovariance::add(const ShiftedSums& sums) {
  require_sums(sums, dimension(), triangle(dimension()));
  if (sums.weight == 0) return;
  // Within the sums: second - first first' / weight.
  for (std::size_t i = 0; i < products_.size(); ++i) products_[i] += sums.second[i];
  std::copy(sums.first.begin(), sums.first.end(), difference_.begin());
  add_outer(-1 / sums.weight);
  // Between the sums and what is here.
  const double sum = weight_ + sums.weight;
  const double share = sums.weight / sum;
  for (std::size_t i = 0; i < dimension(); ++i) {
    difference_[i] = (sums.centre[i] - mean_[i]) + sums.first[i] / sums.weight;
    mean_[i] += share * difference_[i];
  }
  add_outer(weight_ * share);
  weight_ = sum;
}

void WeightedCovariance::merge(const WeightedCovariance& other) {
  require_size("the other mean", other.dimension(), dimension());
  if (other.weight_ == 0) return;
  const double sum = weight_ + other.weight_;
  const double share = other.weight_ / sum;
  const double factor = weight_ * share;
  for (std::size_t i = 0; i < dimension(); ++i) {
    difference_[i] = other.mean_[i] - mean_[i];
    mean_[i] += share * difference_[i];
  }
  for (std::size_t i = 0; i < products_.size(); ++i) products_[i] += other.products_[i];
  add_outer(factor);
  weight_ = sum;
}

void WeightedCovariance::clear() {
  weight_ = 0;
  std::fill(mean_.begin(), mean_.end(), 0.0);
  std::fill(products_.begin(), products_.end(), 0.0);
}

std::vector<double> WeightedCovariance::covariance() const {
  const std::size_t d = dimension();
  std::vector<double> result(d * d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) result[i * d + j] = covariance(i, j);
  }
  return result;
}

}  // namespace rehmc
